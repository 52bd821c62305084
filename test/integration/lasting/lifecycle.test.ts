import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ClosedError,
  type CreateSandboxOptions,
  command,
  createSandbox,
  type Sandbox,
  scripted,
} from "../../../src/index.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { expectUntouched, subjectsOf } from "../../cli/fixtures.ts";
import { hookScene, hooksAt } from "../../faults/run/hookScenes.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["docker", ["docker"], () => docker({ imageName: TEST_IMAGE })],
  ["test-isolated", [], () => testIsolated()],
];
const BRANCH = "agent/work";
const COMMIT = "git commit -q --allow-empty -m";

/** A sandbox on `agent/work`, closed after the test. */
const open = async (cwd: string, options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox({ branch: BRANCH, sandbox: testIsolated(), cwd, ...options });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `close() of a ${name} sandbox`, () => {
    it("during a run stops it, tells its commits, keeps a worktree with uncommitted work and says where it is; the next sandbox takes it over", async () => {
      const cwd = temporaryRepository();
      const warm = await open(cwd, { sandbox: sandbox() });
      await warm.exec(`${COMMIT} before`);
      let closing: Promise<unknown> | undefined;
      const running = warm.run({
        agent: scripted([
          { commit: "during" },
          { shell: "echo open > open.txt" },
          { text: "ready" },
          { sleepMs: 600_000 },
        ]),
        prompt: "Work",
        logging: {
          type: "file",
          onAgentStreamEvent: ({ type }) => {
            if (type === "text") closing = warm.close();
          },
        },
      });
      const error = await failureOf(running);
      expect(error).toBeInstanceOf(ClosedError);
      expect(error).toMatchObject({ branch: BRANCH, commits: [{ sha: git(cwd, "rev-parse", BRANCH) }] });
      expect(subjectsOf(cwd, BRANCH)).toEqual(["during", "before", "Initial commit"]);
      expect(await closing).toMatchObject({ preservedWorktreePath: warm.worktreePath });
      expect(readFileSync(join(warm.worktreePath, "open.txt"), "utf8")).toBe("open\n");
      expect(git(warm.worktreePath, "status", "--porcelain")).toBe("?? open.txt");

      const next = await open(cwd, { sandbox: sandbox() });
      expect(next.warnings).toEqual([expect.stringContaining(warm.worktreePath)]);
      const { stdout } = await next.exec(
        `cat open.txt; git log -1 --format=%s; git add . && ${COMMIT} 'the rest'`,
      );
      expect(stdout).toBe("open\nduring\n");
      expect(await next.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(subjectsOf(cwd, BRANCH)).toEqual(["the rest", "during", "before", "Initial commit"]);
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

describe("close()", () => {
  it("during a command stops it: it rejects with a ClosedError that tells its commits, which are imported, and so does every later call", async () => {
    const cwd = temporaryRepository();
    const making = new AbortController();
    const warm = await open(cwd, { signal: making.signal });
    // That signal is for the making only.
    making.abort();
    const onLine = () => void warm.close();
    const error = await failureOf(warm.exec(`${COMMIT} during; echo ready; sleep 600`, { onLine }));
    expect(error).toBeInstanceOf(ClosedError);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["during", "Initial commit"]);
    expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);

    const agent = { ...command("true"), interactiveCommand: () => ({ command: "true" }) };
    const calls = [warm.exec("true"), warm.run({ agent, prompt: "x" }), warm.interactive({ agent })];
    for (const later of await Promise.all(calls.map(failureOf))) {
      expect(later).toBeInstanceOf(ClosedError);
      expect(later).toMatchObject({ handle: "sandbox", message: expect.stringContaining("createSandbox()") });
    }
  });

  it("happens once, however often and at whatever moment it is asked for", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd);
    const together = await Promise.all([warm.close(), warm.close()]);
    expect([...together, await warm.close()]).toEqual(
      Array(3).fill({ commits: expect.any(Array), warnings: [] }),
    );
    expect(leftovers(cwd)).toEqual([]);
  });

  it("comes with `await using`, also when an exception escapes", async () => {
    const cwd = temporaryRepository();
    const escaped = new Error("mine");
    const block = async () => {
      await using warm = await open(cwd);
      await warm.exec(`${COMMIT} kept`);
      throw escaped;
    };
    expect(await failureOf(block())).toBe(escaped);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["kept", "Initial commit"]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

describeWith(["docker"], "close() of a container", () => {
  it("that was killed says nothing worse than a warning, and imports what its files hold", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd, { sandbox: docker({ imageName: TEST_IMAGE }) });
    const [id = ""] = callClient(
      "docker",
      ...["ps", "--quiet", "--filter", `label=sanddune.repository=${cwd}`],
    ).split("\n");
    const running = warm.run({
      agent: scripted([{ commit: "during" }, { text: "ready" }, { sleepMs: 600_000 }]),
      prompt: "Work",
      logging: {
        type: "file",
        onAgentStreamEvent: ({ type }) => void (type === "text" && callClient("docker", "rm", "-f", id)),
      },
    });
    expect(await failureOf(running)).toMatchObject({ name: "SandboxLostError" });
    expect(await failureOf(warm.exec("true"))).toMatchObject({ name: "SandboxLostError" });
    const { preservedWorktreePath } = await warm.close();
    expect(preservedWorktreePath).toBeUndefined();
    expect(subjectsOf(cwd, BRANCH)).toEqual(["during", "Initial commit"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("imports what a background process has committed after the last call", async () => {
    const cwd = temporaryRepository();
    const { directory, sandboxes } = hookScene();
    const warm = await open(cwd, { sandbox: sandboxes.docker() });
    const background = `until [ -e ${directory}/go ]; do sleep 0.02; done; ${COMMIT} later; touch ${directory}/done`;
    await warm.exec(`setsid sh -c '${background}' >/dev/null 2>&1 </dev/null &`);
    writeFileSync(join(directory, "go"), "");
    await waitFor(() => existsSync(join(directory, "done")));
    expect(subjectsOf(cwd, BRANCH)).toEqual(["Initial commit"]);
    const { commits, warnings } = await warm.close();
    expect(warnings).toEqual([]);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["later", "Initial commit"]);
    expect(commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
  });
});

describe("a hook that does not succeed fails createSandbox()", () => {
  it("by its exit code or its time, and nothing is left", async () => {
    const cwd = temporaryRepository();
    const failing = { command: "echo words >&2; exit 3" };
    const hanging = { command: "sleep 600", timeoutMs: 300 };
    const cases = [
      ["host.onWorktreeReady", failing, 3],
      ["host.onSandboxReady", hanging, undefined],
      ["sandbox.onSandboxReady", failing, 3],
    ] as const;
    for (const [hook, step, exitCode] of cases) {
      const error = await failureOf(open(cwd, { hooks: hooksAt(hook, step) }));
      expect(error).toMatchObject({ name: "HookFailedError", hook, exitCode });
      expect(leftovers(cwd)).toEqual([]);
      expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    }
  });

  it("and a worktree with work in it that was only taken over stays; what the hook had committed is home", async () => {
    const cwd = temporaryRepository();
    const earlier = await open(cwd);
    await earlier.exec("echo precious > precious.txt");
    await earlier.close();
    const precious = () => readFileSync(join(earlier.worktreePath, "precious.txt"), "utf8");
    const failed = { name: "HookFailedError", preservedWorktreePath: earlier.worktreePath };
    const onHost = hooksAt("host.onWorktreeReady", { command: "exit 3" });
    expect(await failureOf(open(cwd, { hooks: onHost }))).toMatchObject(failed);
    expect(precious()).toBe("precious\n");
    const inSandbox = hooksAt("sandbox.onSandboxReady", { command: `${COMMIT} 'by the hook'; exit 3` });
    expect(await failureOf(open(cwd, { hooks: inSandbox }))).toMatchObject({
      ...failed,
      commits: [{ sha: git(cwd, "rev-parse", BRANCH) }],
    });
    expect(subjectsOf(cwd, BRANCH)).toEqual(["by the hook", "Initial commit"]);
    expect(precious()).toBe("precious\n");
  });
});

describe("the signal of createSandbox()", () => {
  it("gives everything back when it is aborted, in a hook on the host or in the sandbox; if it is aborted already, nothing is created", async () => {
    const cwd = temporaryRepository();
    const reason = { why: "enough" };
    expect(await failureOf(open(cwd, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expectUntouched(cwd);
    for (const hook of ["host.onWorktreeReady", "sandbox.onSandboxReady"] as const) {
      const { directory } = hookScene();
      const controller = new AbortController();
      const hooks = hooksAt(hook, { command: `touch ${directory}/here; sleep 600` });
      const opening = failureOf(open(cwd, { hooks, signal: controller.signal }));
      await waitFor(() => existsSync(join(directory, "here")));
      controller.abort(reason);
      expect(await opening).toBe(reason);
      expect(leftovers(cwd)).toEqual([]);
      expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    }
  });
});
