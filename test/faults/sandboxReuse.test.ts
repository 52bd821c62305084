import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type AgentProvider,
  ClosedError,
  command,
  createSandbox,
  type Sandbox,
  type SandboxRunOptions,
  scripted,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { subjectsOf } from "../cli/fixtures.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";
import { meetingPoint, SANDBOXES as PLAIN } from "../security/support.ts";
import { HARD_TO_END, hardToEnd, hookScene, marked, newMark } from "./hookScenes.ts";

const BRANCH = "agent/work";
const COMMIT = "git commit -q --allow-empty -m";

/** A sandbox on `agent/work`, closed after the test. */
const open = async (cwd: string, sandbox: SandboxProvider = bubblewrap()): Promise<Sandbox> => {
  const warm = await createSandbox({ branch: BRANCH, sandbox, cwd });
  onTestFinished(async () => void (await warm.close()));
  return warm;
};

const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

const missing: AgentProvider = {
  ...command("true"),
  buildCommand: () => ({ command: ["no-such-agent"], stdin: "" }),
};

interface Fault {
  readonly options: (reason: unknown) => Partial<SandboxRunOptions>;
  /** What the agent does when it has committed. */
  readonly end: (mark: string) => string;
  readonly error: object;
}
const REASON = { why: "enough" };
const FAULTS: Readonly<Record<string, Fault>> = {
  "was aborted, and ended with everything it had started,": {
    options: (reason) => {
      const controller = new AbortController();
      const onAgentStreamEvent = () => controller.abort(reason);
      return { signal: controller.signal, logging: { type: "file", onAgentStreamEvent } };
    },
    end: (mark) => `${hardToEnd(mark)}\necho ready; sleep 600`,
    error: REASON,
  },
  "was silent for too long, and ended with everything it had started,": {
    options: () => ({ idleTimeoutSeconds: 1 }),
    end: (mark) => `${hardToEnd(mark)}\nsleep 600`,
    error: { name: "IdleTimeoutError" },
  },
  failed: { options: () => ({}), end: () => "exit 5", error: { name: "AgentFailedError", exitCode: 5 } },
};

describe.each([
  ["bubblewrap", ["bubblewrap"], PLAIN.bubblewrap],
  ["isolated", [], PLAIN.isolated],
  ["docker", ["docker"], () => hookScene().sandboxes.docker()],
] as [string, Runtime[], () => SandboxProvider][])("in a %s sandbox", (_, runtimes, sandbox) => {
  describeWith(runtimes, "after an agent", () => {
    it.each(Object.entries(FAULTS))(
      "%s its commits are home, and the sandbox is as good as before",
      async (_, { options, end, error }) => {
        const cwd = temporaryRepository();
        const warm = await open(cwd, sandbox());
        const mark = newMark();
        const agent = command(`${COMMIT} reached; echo left > ~/left; ${end(mark)}`);
        const reason = await failureOf(
          warm.run({ agent, prompt: "x", ...options(REASON) } as SandboxRunOptions),
        );
        expect(reason).toMatchObject(error);
        if (error === REASON) expect(reason).toBe(REASON);
        else expect(reason.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
        expect(subjectsOf(cwd, BRANCH)).toEqual(["reached", "Initial commit"]);
        await waitFor(() => marked(mark).length === 0, 5000);

        const next = await warm.run({ agent: command(`cat ~/left; ${COMMIT} next`), prompt: "x" });
        expect(next).toMatchObject({ stdout: "left\n", commits: [{ sha: git(cwd, "rev-parse", BRANCH) }] });
        expect((await warm.exec("git log -1 --format=%s")).stdout).toBe("next\n");
        expect(await warm.close()).toEqual({ commits: [], warnings: [] });
        expect(leftovers(cwd)).toEqual([]);
      },
    );

    it("was not found the sandbox is as good as before", async () => {
      const warm = await open(temporaryRepository(), sandbox());
      const error = await failureOf(warm.run({ agent: missing, prompt: "x" }));
      expect(error).toMatchObject({ name: "AgentNotFoundError", program: "no-such-agent", commits: [] });
      expect((await warm.run({ agent: command(`${COMMIT} next`), prompt: "x" })).commits).toHaveLength(1);
    });
  });
});

it("processes that are hard to end are really started by the agents of these tests", async () => {
  const warm = await open(temporaryRepository());
  const mark = newMark();
  const running = warm.run({ agent: command(`${hardToEnd(mark)}\nsleep 600`), prompt: "x" });
  const failed = failureOf(running);
  await waitFor(() => marked(mark).length > HARD_TO_END);
  await warm.close();
  expect(await failed).toBeInstanceOf(ClosedError);
  expect(marked(mark)).toEqual([]);
});

it("going on with a session of the agent's is refused with the reason, and nothing is run", async () => {
  const warm = await open(temporaryRepository());
  const options = { agent: command("touch ran"), prompt: "x", resumeSession: "s-1" } as never;
  expect(await failureOf(warm.run(options))).toMatchObject({
    name: "InvalidOptionsError",
    option: "resumeSession",
    message: expect.stringMatching(/each run in it begins a new one/),
  });
  expect((await warm.exec("ls")).stdout).toBe("README.md\n");
});

/** A sandbox with an agent in it that has come to the meeting point, and waits there. */
const withWaitingAgent = async (cwd: string) => {
  const { sandboxes, wait, meet } = meetingPoint();
  const warm = await open(cwd, sandboxes.bubblewrap());
  const agent = scripted([wait, { sleepMs: 300 }, { shell: "echo first >> ~/order" }, { commit: "first" }]);
  const running = warm.run({ agent, prompt: "x" });
  running.catch(() => {});
  return { warm, running, meet };
};
const note = (word: string) => `echo ${word} >> ~/order; cat ~/order`;

describe("calls on one sandbox take turns:", () => {
  it("who comes while another is going on sees its end, in the order in which they came", async () => {
    const { warm, running, meet } = await withWaitingAgent(temporaryRepository());
    const calls: Promise<{ readonly stdout: string }>[] = [];
    await meet(() => {
      calls.push(warm.run({ agent: command(note("second")), prompt: "x" }), warm.exec(note("third")));
    });
    expect((await running).commits).toHaveLength(1);
    const [second, third] = await Promise.all(calls);
    expect(second?.stdout).toBe("first\nsecond\n");
    expect(third?.stdout).toBe("first\nsecond\nthird\n");
  });

  it("a command that was called after a run comes after it, also when both were called at once", async () => {
    const warm = await open(temporaryRepository());
    const [ran, executed] = await Promise.all([
      warm.run({ agent: command(`${COMMIT} first`), prompt: "x" }),
      warm.exec("git log -1 --format=%s"),
    ]);
    expect(ran.commits).toHaveLength(1);
    expect(executed).toMatchObject({ stdout: "first\n", commits: [] });
  });

  it("aborting one that waits ends it at once, and does not disturb the one that is going on", async () => {
    const { warm, running, meet } = await withWaitingAgent(temporaryRepository());
    const controller = new AbortController();
    await meet(async () => {
      const reasons: unknown[] = [];
      const { signal } = controller;
      const waiting = [
        warm.run({ agent: command(note("never")), prompt: "x", signal }),
        warm.exec(note("never"), { signal }),
      ];
      for (const call of waiting) void failureOf(call).then((reason) => reasons.push(reason));
      controller.abort(REASON);
      await waitFor(() => reasons.length === 2, 5000);
      expect(reasons.every((reason) => reason === REASON)).toBe(true);
    });
    expect((await running).commits).toHaveLength(1);
    expect((await warm.exec("cat ~/order")).stdout).toBe("first\n");
  });

  it("close() rejects those that wait, which have nothing to tell, and they never run", async () => {
    const cwd = temporaryRepository();
    const { warm, running, meet } = await withWaitingAgent(cwd);
    const waiting: Promise<ClosedError>[] = [];
    await meet(async () => {
      waiting.push(
        failureOf(warm.run({ agent: command(`${COMMIT} never`), prompt: "x" })),
        failureOf(warm.exec(`${COMMIT} never`)),
      );
      await warm.close();
    });
    expect(await failureOf(running)).toBeInstanceOf(ClosedError);
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(ClosedError);
      expect(error.runId).toBeUndefined();
    }
    expect(subjectsOf(cwd, BRANCH)).toEqual(["Initial commit"]);
    expect(leftovers(cwd)).toEqual([]);
  });
});

/** The user commits a file in the worktree of a sandbox, on the host. */
const commitOnHost = ({ worktreePath }: Sandbox): void => {
  writeFileSync(join(worktreePath, "by-hand.txt"), "by hand\n");
  git(worktreePath, "add", ".");
  git(worktreePath, "commit", "--quiet", "-m", "By hand");
};

describe("a commit that the user makes in the worktree between two calls", () => {
  it("is what the next one in a bind-mount sandbox starts from, and not counted as its own", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd);
    await warm.exec(`${COMMIT} first`);
    commitOnHost(warm);
    const agent = command(`git log -1 --format=%s; cat by-hand.txt; git status --short; ${COMMIT} next`);
    const result = await warm.run({ agent, prompt: "x" });
    expect(result.stdout).toBe("By hand\nby hand\n");
    expect(result.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["next", "By hand", "first", "Initial commit"]);
    expect(await warm.close()).toEqual({ commits: [], warnings: [] });
  });

  it("cannot get into an isolated sandbox: the next call says so, and the commit stays on the branch", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd, PLAIN.isolated());
    await warm.exec(`${COMMIT} first`);
    commitOnHost(warm);
    const calls = [() => warm.run({ agent: command("true"), prompt: "x" }), () => warm.exec("true")];
    for (const call of calls) {
      const message = expect.stringMatching(/agent\/work has got commits on the host.*make another one/);
      expect(await failureOf(call())).toMatchObject({ name: "SandboxError", message });
    }
    await warm.close();
    expect(subjectsOf(cwd, BRANCH)).toEqual(["By hand", "first", "Initial commit"]);
    const next = await open(cwd, PLAIN.isolated());
    expect((await next.exec("cat by-hand.txt")).stdout).toBe("by hand\n");
  });
});

it("a commit that the user makes during a run stays on the branch, also when the sandbox is closed", async () => {
  const cwd = temporaryRepository();
  const { warm, running, meet } = await withWaitingAgent(cwd);
  await meet(() => commitOnHost(warm));
  const error = await failureOf(running);
  expect(error).toMatchObject({ name: "BranchMovedError", movedBranch: BRANCH });
  expect(await failureOf(warm.exec("true"))).toMatchObject({ name: "SandboxError" });
  await warm.close();
  expect(subjectsOf(cwd, BRANCH)).toEqual(["By hand", "Initial commit"]);
  expect(git(cwd, "log", "-1", "--format=%s", error.keptRef)).toBe("first");
});
