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
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { noSandbox } from "../../src/sandboxes/no-sandbox.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { expectUntouched, subjectsOf } from "../cli/fixtures.ts";
import { HOOK_NAMES, hookScene, hooksAt } from "../faults/hookScenes.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { callClient } from "../sandboxes/containers.ts";

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["docker", ["docker"], () => docker({ image: TEST_IMAGE })],
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
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
    it("keeps a worktree with uncommitted work, says where it is, and the next sandbox takes it over", async () => {
      const cwd = temporaryRepository();
      const warm = await open(cwd, { sandbox: sandbox() });
      await warm.exec(`echo open > open.txt; ${COMMIT} done`);
      const { preservedWorktreePath } = await warm.close();
      expect(preservedWorktreePath).toBe(warm.worktreePath);
      expect(readFileSync(join(warm.worktreePath, "open.txt"), "utf8")).toBe("open\n");
      expect(git(warm.worktreePath, "status", "--porcelain")).toBe("?? open.txt");

      const next = await open(cwd, { sandbox: sandbox() });
      expect(next.warnings).toEqual([expect.stringContaining(warm.worktreePath)]);
      expect((await next.exec("cat open.txt; git log -1 --format=%s")).stdout).toBe("open\ndone\n");
      await next.exec(`git add . && ${COMMIT} 'the rest'`);
      expect(await next.close()).toEqual({ commits: [], warnings: [] });
      expect(subjectsOf(cwd, BRANCH)).toEqual(["the rest", "done", "Initial commit"]);
      expect(leftovers(cwd)).toEqual([]);
    });

    it("during a run stops it: it rejects with a ClosedError that tells its commits, which are home", async () => {
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
    });
  });
}

describe("close()", () => {
  it("during a command stops it: it rejects with a ClosedError that tells its commits, which are home", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd);
    const onLine = () => void warm.close();
    const error = await failureOf(warm.exec(`${COMMIT} during; echo ready; sleep 600`, { onLine }));
    expect(error).toBeInstanceOf(ClosedError);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["during", "Initial commit"]);
    expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
  });

  it("happens once, however often and at whatever moment it is asked for", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd);
    const together = await Promise.all([warm.close(), warm.close()]);
    expect([...together, await warm.close()]).toEqual(Array(3).fill({ commits: [], warnings: [] }));
    expect(leftovers(cwd)).toEqual([]);
  });

  it("lets every later call reject with a ClosedError", async () => {
    const warm = await open(temporaryRepository());
    await warm.close();
    const agent = { ...command("true"), interactiveCommand: () => ({ command: "true" }) };
    const calls = [warm.exec("true"), warm.run({ agent, prompt: "x" }), warm.interactive({ agent })];
    for (const error of await Promise.all(calls.map(failureOf))) {
      expect(error).toBeInstanceOf(ClosedError);
      expect(error).toMatchObject({ handle: "sandbox", message: expect.stringContaining("createSandbox()") });
    }
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
  it("that was killed says nothing worse than a warning, and brings home what its files hold", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd, { sandbox: docker({ image: TEST_IMAGE }) });
    await warm.exec(`${COMMIT} before`);
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
    expect(subjectsOf(cwd, BRANCH)).toEqual(["during", "before", "Initial commit"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("brings home what a background process has committed after the last call", async () => {
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

describe("createSandbox() refuses", () => {
  const BAD: Readonly<Record<string, [object, RegExp]>> = {
    "to do without a branch": [{ branch: undefined }, /`branch`/],
    "to do without a sandbox": [{ sandbox: undefined }, /`sandbox`/],
    "the no-sandbox provider": [{ sandbox: noSandbox() }, /`sandbox`.*interactive/],
    "an option of run()": [{ prompt: "x" }, /`prompt`.*no such option/],
    "a branch strategy": [{ branchStrategy: { type: "head" } }, /`branchStrategy`.*no such option/],
    "a listener, where there is no agent": [
      { logging: { type: "file", onAgentStreamEvent: () => {} } },
      /onAgentStreamEvent/,
    ],
  };
  it.each(Object.entries(BAD))("%s, and creates nothing", async (_, [options, message]) => {
    const cwd = temporaryRepository();
    const error = await failureOf(open(cwd, options));
    expect(error).toMatchObject({ name: "InvalidOptionsError", message: expect.stringMatching(message) });
    expectUntouched(cwd);
  });
});

describe("a hook that does not succeed fails createSandbox()", () => {
  it.each(HOOK_NAMES)("%s, by its exit code or its time, and nothing is left", async (hook) => {
    const cwd = temporaryRepository();
    const failing = hooksAt(hook, { command: "echo words >&2; exit 3" });
    const hanging = hooksAt(hook, { command: "sleep 600", timeoutMs: 300 });
    for (const [hooks, exitCode] of [[failing, 3] as const, [hanging, undefined] as const]) {
      const error = await failureOf(open(cwd, { sandbox: bubblewrap(), hooks }));
      expect(error).toMatchObject({ name: "HookFailedError", hook, exitCode });
      expect(leftovers(cwd)).toEqual([]);
      expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    }
    await open(cwd, { sandbox: bubblewrap() });
  });

  it.each(HOOK_NAMES)("%s, and a worktree with work in it that was only taken over stays", async (hook) => {
    const cwd = temporaryRepository();
    const earlier = await open(cwd, { sandbox: bubblewrap() });
    await earlier.exec("echo precious > precious.txt");
    await earlier.close();
    const hooks = hooksAt(hook, { command: "exit 3" });
    const error = await failureOf(open(cwd, { sandbox: bubblewrap(), hooks }));
    expect(error).toMatchObject({
      name: "HookFailedError",
      preservedWorktreePath: earlier.worktreePath,
    });
    expect(readFileSync(join(earlier.worktreePath, "precious.txt"), "utf8")).toBe("precious\n");
  });

  it.each(SANDBOXES.slice(1))("and what it had committed in a %s sandbox is home", async (_, __, sandbox) => {
    const cwd = temporaryRepository();
    const hooks = hooksAt("sandbox.onSandboxReady", { command: `${COMMIT} 'by the hook'; exit 3` });
    expect(await failureOf(open(cwd, { sandbox: sandbox(), hooks }))).toMatchObject({
      name: "HookFailedError",
      commits: [{ sha: git(cwd, "rev-parse", BRANCH) }],
    });
    expect(subjectsOf(cwd, BRANCH)).toEqual(["by the hook", "Initial commit"]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("the signal of createSandbox()", () => {
  const reason = { why: "enough" };

  it("that is aborted already lets nothing be created", async () => {
    const cwd = temporaryRepository();
    expect(await failureOf(open(cwd, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expectUntouched(cwd);
  });

  it.each(HOOK_NAMES)("gives everything back when it is aborted in %s", async (hook) => {
    const cwd = temporaryRepository();
    const { directory, sandboxes } = hookScene();
    const controller = new AbortController();
    const hooks = hooksAt(hook, { command: `touch ${directory}/here; sleep 600` });
    const opening = failureOf(
      open(cwd, { sandbox: sandboxes.bubblewrap(), hooks, signal: controller.signal }),
    );
    await waitFor(() => existsSync(join(directory, "here")));
    controller.abort(reason);
    expect(await opening).toBe(reason);
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
  });

  it("is for the making only", async () => {
    const controller = new AbortController();
    const warm = await open(temporaryRepository(), { signal: controller.signal });
    controller.abort(reason);
    expect((await warm.exec("echo usable")).stdout).toBe("usable\n");
  });
});
