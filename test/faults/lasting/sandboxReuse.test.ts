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
  type SandboxRunResult,
  scripted,
} from "../../../src/index.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime } from "../../helpers/runtimes/runtimes.ts";
import { type MeetingPoint, meetingPoint, SANDBOXES as PLAIN } from "../../security/support.ts";
import { HARD_TO_END, hardToEnd, hookScene, newMark } from "../run/hookScenes.ts";
import { useSharedSandbox } from "./sharedSandbox.ts";

const BRANCH = "agent/work";
const COMMIT = "git commit -q --allow-empty -m";

/** A sandbox on `agent/work`, closed after the test. */
const open = async (cwd: string, sandbox: SandboxProvider = PLAIN.isolated()): Promise<Sandbox> => {
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
  readonly options?: () => Partial<SandboxRunOptions>;
  /** What the agent does when it has committed. */
  readonly end: (mark: string) => string;
  readonly error: object;
}
const REASON = { why: "enough" };
const FAULTS: Readonly<Record<string, Fault>> = {
  aborted: {
    options: () => {
      const controller = new AbortController();
      const onAgentStreamEvent = () => controller.abort(REASON);
      return { signal: controller.signal, logging: { type: "file", onAgentStreamEvent } };
    },
    end: (mark) => `${hardToEnd(mark)}\necho ready; sleep 600`,
    error: REASON,
  },
  silent: {
    options: () => ({ idleTimeoutSeconds: 1 }),
    end: (mark) => `${hardToEnd(mark)}\nsleep 600`,
    error: { name: "IdleTimeoutError" },
  },
  failed: { end: () => "exit 5", error: { name: "AgentFailedError", exitCode: 5 } },
};

/** Lets an agent look at what the one before it has left, commit, and then end badly. */
const expectFault = async (warm: Sandbox, cwd: string, name: string, fault: Fault): Promise<void> => {
  const before = subjectsOf(cwd, BRANCH)[0];
  const mark = newMark();
  const isThere = `[ "$(git log -1 --format=%s)" = "${before}" ] && [ "$(cat ~/left)" = "${before}" ]`;
  const agent = command(`${isThere} && echo ${name} > ~/left && ${COMMIT} ${name}\n${fault.end(mark)}`);
  const reason = await failureOf(warm.run({ agent, prompt: "x", ...fault.options?.() } as SandboxRunOptions));
  expect(reason).toMatchObject(fault.error);
  if (fault.error === REASON) expect(reason).toBe(REASON);
  else expect(reason.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
  expect(subjectsOf(cwd, BRANCH).slice(0, 2)).toEqual([name, before]);
  await waitFor(() => processesWith(mark).length === 0, 5000);
};

describe.each([
  ["bubblewrap", ["bubblewrap"], () => PLAIN.bubblewrap()],
  ["isolated", [], () => PLAIN.isolated()],
  ["docker", ["docker"], () => hookScene().sandboxes.docker()],
] as [string, Runtime[], () => SandboxProvider][])("in a %s sandbox", (_, runtimes, sandbox) => {
  describeWith(runtimes, "after agents", () => {
    it("that were aborted, silent for too long, failed or not found their commits are home, nothing that they started runs on, and the sandbox is as good as before", async () => {
      const cwd = temporaryRepository();
      const warm = await open(cwd, sandbox());
      await warm.exec("git log -1 --format=%s > ~/left");
      for (const [name, fault] of Object.entries(FAULTS)) await expectFault(warm, cwd, name, fault);
      const error = await failureOf(warm.run({ agent: missing, prompt: "x" }));
      expect(error).toMatchObject({ name: "AgentNotFoundError", program: "no-such-agent", commits: [] });
      const last = await warm.run({ agent: command(`cat ~/left; ${COMMIT} last`), prompt: "x" });
      expect(last).toMatchObject({ stdout: "failed\n", commits: [{ sha: git(cwd, "rev-parse", BRANCH) }] });
      expect((await warm.exec("git log -1 --format=%s")).stdout).toBe("last\n");
      expect(await warm.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    });
  });
});

it("close() ends an agent that is hard to end, with everything it started", async () => {
  const warm = await open(temporaryRepository());
  const mark = newMark();
  const running = warm.run({ agent: command(`${hardToEnd(mark)}\nsleep 600`), prompt: "x" });
  const failed = failureOf(running);
  await waitFor(() => processesWith(mark).length > HARD_TO_END);
  await warm.close();
  expect(await failed).toBeInstanceOf(ClosedError);
  expect(processesWith(mark)).toEqual([]);
});

const note = (word: string) => `echo ${word} >> ~/order; cat ~/order`;

/** Lets an agent come to a meeting point in a sandbox, and wait there. */
const startWaiting = (warm: Sandbox, { wait }: MeetingPoint): Promise<SandboxRunResult> => {
  const agent = scripted([wait, { sleepMs: 300 }, { shell: note("first") }, { commit: "first" }]);
  const running = warm.run({ agent, prompt: "x" });
  running.catch(() => {});
  return running;
};

describe("calls on one sandbox", () => {
  const sandbox = useSharedSandbox();

  it("take turns: who comes while another is going on sees its end, in the order in which they came; aborting one that waits ends it at once, and disturbs no other", async () => {
    const warm = sandbox();
    const point = meetingPoint();
    const running = startWaiting(warm, point);
    const controller = new AbortController();
    const { signal } = controller;
    const calls: Promise<{ readonly stdout: string }>[] = [];
    await point.meet(async () => {
      const reasons: unknown[] = [];
      const waiting = [
        warm.run({ agent: command(note("never")), prompt: "x", signal }),
        warm.exec(note("never"), { signal }),
      ];
      calls.push(warm.run({ agent: command(note("second")), prompt: "x" }), warm.exec(note("third")));
      for (const call of waiting) void failureOf(call).then((reason) => reasons.push(reason));
      controller.abort(REASON);
      await waitFor(() => reasons.length === 2, 5000);
      expect(reasons.every((reason) => reason === REASON)).toBe(true);
    });
    expect((await running).commits).toHaveLength(1);
    const [second, third] = await Promise.all(calls);
    expect(second?.stdout).toBe("first\nsecond\n");
    expect(third?.stdout).toBe("first\nsecond\nthird\n");
  });

  it("take turns: a command that was called after a run comes after it, also when both were called at once", async () => {
    const [ran, executed] = await Promise.all([
      sandbox().run({ agent: command(`${COMMIT} called`), prompt: "x" }),
      sandbox().exec("git log -1 --format=%s"),
    ]);
    expect(ran.commits).toHaveLength(1);
    expect(executed).toMatchObject({ stdout: "called\n", commits: [] });
  });

  it("resuming a session of the agent is refused with the reason, and nothing is run", async () => {
    const options = { agent: command("touch ran"), prompt: "x", resumeSession: "s-1" } as never;
    expect(await failureOf(sandbox().run(options))).toMatchObject({
      name: "InvalidOptionsError",
      option: "resumeSession",
      message: expect.stringMatching(/always starts a new agent session/),
    });
    expect((await sandbox().exec("git status --porcelain")).stdout).toBe("");
  });
});

it("close() rejects the calls that wait, which have nothing to tell, and they never run", async () => {
  const cwd = temporaryRepository();
  const point = meetingPoint();
  const warm = await open(cwd);
  const running = startWaiting(warm, point);
  const waiting: Promise<ClosedError>[] = [];
  await point.meet(async () => {
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

/** The user commits a file in the worktree of a sandbox, on the host. */
const commitOnHost = ({ worktreePath }: Sandbox): void => {
  writeFileSync(join(worktreePath, "by-hand.txt"), "by hand\n");
  git(worktreePath, "add", ".");
  git(worktreePath, "commit", "--quiet", "-m", "By hand");
};

describeWith(["bubblewrap"], "a commit that the user makes in the worktree", () => {
  it("between two calls is what the next one in a bind-mount sandbox starts from, and not counted as its own", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd, PLAIN.bubblewrap());
    await warm.exec(`${COMMIT} first`);
    commitOnHost(warm);
    const agent = command(`git log -1 --format=%s; cat by-hand.txt; git status --short; ${COMMIT} next`);
    const result = await warm.run({ agent, prompt: "x" });
    expect(result.stdout).toBe("By hand\nby hand\n");
    expect(result.commits).toEqual([{ sha: git(cwd, "rev-parse", BRANCH) }]);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["next", "By hand", "first", "Initial commit"]);
    expect(await warm.close()).toEqual({ commits: expect.any(Array), warnings: [] });
  });

  it("during a run stays on the branch, also when the sandbox is closed", async () => {
    const cwd = temporaryRepository();
    const point = meetingPoint();
    const warm = await open(cwd, point.sandboxes.bubblewrap());
    const running = startWaiting(warm, point);
    await point.meet(() => commitOnHost(warm));
    const error = await failureOf(running);
    expect(error).toMatchObject({ name: "BranchMovedError", movedBranch: BRANCH });
    expect(await failureOf(warm.exec("true"))).toMatchObject({ name: "SandboxError" });
    await warm.close();
    expect(subjectsOf(cwd, BRANCH)).toEqual(["By hand", "Initial commit"]);
    expect(git(cwd, "log", "-1", "--format=%s", error.keptRef)).toBe("first");
  });
});

it("a commit that the user makes in the worktree between two calls cannot get into an isolated sandbox: the next call says so, and the commit stays on the branch", async () => {
  const cwd = temporaryRepository();
  const warm = await open(cwd);
  await warm.exec(`${COMMIT} first`);
  commitOnHost(warm);
  const calls = [() => warm.run({ agent: command("true"), prompt: "x" }), () => warm.exec("true")];
  for (const call of calls) {
    const message = expect.stringMatching(/agent\/work has new commits on the host.*create another one/);
    expect(await failureOf(call())).toMatchObject({ name: "SandboxError", message });
  }
  await warm.close();
  expect(subjectsOf(cwd, BRANCH)).toEqual(["By hand", "first", "Initial commit"]);
  const next = await open(cwd);
  expect((await next.exec("cat by-hand.txt")).stdout).toBe("by hand\n");
});
