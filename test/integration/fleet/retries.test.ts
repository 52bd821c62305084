import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AgentFailedError,
  command,
  createIsolatedSandboxProvider,
  type FleetEvent,
  runAll,
  SandboxBusyError,
  SandboxLostError,
} from "../../../src/index.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { commit, gate, mortal, onBranch, task, watchFleet } from "./fleets.ts";

const log = (cwd: string, range: string): string[] =>
  git(cwd, "log", "--no-merges", "--format=%s", range).split("\n");

/**
 * Commits, and in the second iteration waits for its end; finds at its beginning how far others had come. What it commits is its
 * own: the same on the same parent, in the same second, would be the same commit.
 */
const workUntil = (wait: ReturnType<ReturnType<typeof gate>["wait"]>) => ({
  steps: ({ iteration }: { iteration: number }) => [
    { shell: `[ -e Part-${iteration}.txt ] && echo again >> again.txt` },
    { shell: "cat /proc/sys/kernel/random/uuid >own.txt" },
    commit(`Part ${iteration}`),
    ...(iteration === 2 ? [wait] : []),
  ],
  maxIterations: 2,
});

describe("a task whose service has no sandbox for the moment", () => {
  /** Has none the first times. */
  const crowded = (times: number) => {
    const inner = testIsolated();
    let left = times;
    return createIsolatedSandboxProvider({
      name: inner.name,
      create: (options) => {
        if (left-- > 0) throw new SandboxBusyError("test", "there is no room", "Wait");
        return inner.create(options);
      },
    });
  };

  it("is tried again as often as retries say", async () => {
    const cwd = temporaryRepository();
    const [fits, crowds] = (
      await watchFleet(
        [
          task(cwd, [commit("One")], { sandbox: crowded(1), ...onBranch("one") }),
          task(cwd, [commit("Two")], { sandbox: crowded(2), ...onBranch("two") }),
        ],
        { retries: 1 },
      )
    ).outcomes;
    expect(fits).toMatchObject({ state: "succeeded", attempts: 2, commits: [{}] });
    expect(fits?.lost[0]).toBeInstanceOf(SandboxBusyError);
    expect(crowds).toMatchObject({ state: "failed", attempts: 2 });
    expect(crowds?.error).toBeInstanceOf(SandboxBusyError);
    expect(leftovers(cwd)).toEqual([]);
  });
});

describe("a task whose sandbox is lost", () => {
  it("continues, on its branch, from what had been imported, in a new run session", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const { sandbox, die, created } = mortal();
    const { steps, ...rest } = workUntil(wait("late"));
    const running = watchFleet([task(cwd, steps, { sandbox, ...rest, ...onBranch("b"), name: "moving" })], {
      retries: 2,
    });
    await reached("late");
    open("late");
    die();
    const { outcomes, events, succeeded } = await running;
    expect(succeeded).toBe(1);
    expect(created()).toBe(2);
    const [outcome] = outcomes;
    expect(outcome).toMatchObject({ state: "succeeded", attempts: 2, branch: "b" });
    expect(outcome?.lost[0]).toBeInstanceOf(SandboxLostError);
    expect(outcome?.lost[0]).toMatchObject({ branch: "b", commits: [{}] });
    expect(outcome?.lost[0]?.runId).not.toBe(outcome?.runId);
    // The first part of the first attempt, then both parts of the second, which found it.
    expect(log(cwd, "main..b")).toEqual(["Part 2", "Part 1", "Part 1"]);
    expect(git(cwd, "show", "b:again.txt")).toBe("again");
    expect(outcome?.commits.map(({ sha }) => sha)).toEqual(
      git(cwd, "rev-list", "--reverse", "main..b").split("\n"),
    );
    expect(events.map(({ type }) => type)).toEqual(["started", "retried", "finished"]);
    const retried = events[1] as FleetEvent & { type: "retried" };
    expect(retried).toMatchObject({ index: 0, name: "moving", attempt: 2, error: outcome?.lost[0] });
    expect(leftovers(cwd)).toEqual([]);
  });

  it("starts anew with merge-to-head: what was lost is kept on its branch and not merged", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const { sandbox, die } = mortal();
    const { steps, ...rest } = workUntil(wait("late"));
    const running = watchFleet([task(cwd, steps, { sandbox, ...rest })], { retries: 1 });
    await reached("late");
    open("late");
    die();
    const { outcomes } = await running;
    expect(outcomes[0]).toMatchObject({ state: "succeeded", attempts: 2, branch: "main" });
    expect(outcomes[0]?.commits).toHaveLength(2);
    expect(log(cwd, "main")).toEqual(["Part 2", "Part 1", "Initial commit"]);
    expect(existsSync(join(cwd, "again.txt"))).toBe(false);
    const [lost] = outcomes[0]?.lost ?? [];
    expect(lost?.branch).toBe(`sanddune/${lost?.runId}`);
    expect(log(cwd, `main..${lost?.branch}`)).toEqual(["Part 1"]);
    expect(lost?.commits).toEqual([{ sha: git(cwd, "rev-parse", lost?.branch ?? "") }]);
  });

  it("fails when it is lost once more than it may be tried again, and nothing of it is lost", async () => {
    const cwd = temporaryRepository();
    const { wait, reached } = gate();
    const { sandbox, die, created } = mortal();
    const steps = ({ iteration }: { iteration: number }) => [iteration === 1 ? commit("Part") : wait("late")];
    const running = watchFleet([task(cwd, steps, { sandbox, maxIterations: 2, ...onBranch("b") })], {
      retries: 1,
    });
    await reached("late");
    die();
    await waitFor(() => created() === 2 && log(cwd, "main..b").length === 2);
    die();
    const { outcomes, failed } = await running;
    expect(failed).toBe(1);
    expect(outcomes[0]).toMatchObject({ state: "failed", attempts: 2, branch: "b" });
    expect(outcomes[0]?.error).toBeInstanceOf(SandboxLostError);
    expect(outcomes[0]?.commits).toHaveLength(2);
    expect(log(cwd, "main..b")).toEqual(["Part", "Part"]);
  });

  it("is not tried again unless that was asked for, nor after an abort", async () => {
    const cwd = temporaryRepository();
    const { wait, reached } = gate();
    const { sandbox, die, created } = mortal();
    const unasked = watchFleet([task(cwd, [wait("one")], { sandbox, ...onBranch("one") })]);
    await reached("one");
    die();
    expect((await unasked).outcomes[0]).toMatchObject({ state: "failed", attempts: 1, lost: [] });
    const stop = new AbortController();
    const aborted = watchFleet([task(cwd, [wait("two")], { sandbox, ...onBranch("two") })], {
      retries: 5,
      signal: stop.signal,
    });
    await reached("two");
    stop.abort();
    die();
    expect((await aborted).outcomes[0]).toMatchObject({ attempts: 1, lost: [] });
    expect(created()).toBe(2);
  });
});

describe("a sandbox that is lost once its work is merged", () => {
  it("is no reason to do it again", async () => {
    const cwd = temporaryRepository();
    const provider = testIsolated();
    let created = 0;
    const sandbox = {
      ...provider,
      create: async (options: Parameters<typeof provider.create>[0]) => {
        created++;
        const handle = await provider.create(options);
        const close = async () => {
          await handle.close();
          throw new SandboxLostError("forgetful", "it no longer answers");
        };
        return { ...handle, close };
      },
    };
    const { outcomes } = await watchFleet([task(cwd, [commit("Once")], { sandbox })], { retries: 3 });
    expect(outcomes[0]).toMatchObject({
      state: "succeeded",
      attempts: 1,
      branch: "main",
      warnings: [expect.stringContaining("it no longer answers")],
    });
    expect(created).toBe(1);
    expect(log(cwd, "main")).toEqual(["Once", "Initial commit"]);
  });
});

describeWith(["docker"], "a task whose container is killed", () => {
  const sandboxes = (cwd: string): string[] => {
    const runs = join(cwd, ".sanddune/runs");
    return readdirSync(runs)
      .filter((name) => name !== ".gitignore")
      .sort()
      .flatMap((id) => {
        const journal = readFileSync(join(runs, id, "journal.jsonl"), "utf8");
        return /"what":"sandbox","name":"([^"]+)"/.exec(journal)?.[1] ?? [];
      });
  };

  // On a branch: test/cli/run/runTasks.test.ts.
  it("continues in the checkout, with all that it had committed and all that it had not", async () => {
    const cwd = temporaryRepository();
    const tip = git(cwd, "rev-parse", "main");
    // What was not committed is still there, too: the second attempt finds the file and does not wait.
    const steps = [
      { shell: "git log --format=%s -1" },
      commit("Part"),
      { shell: "[ -e seen ] || { touch seen; sleep 600; }" },
    ];
    const options = { sandbox: docker({ imageName: TEST_IMAGE }), branchStrategy: { type: "head" } };
    const running = watchFleet([task(cwd, steps, options)], { retries: 1 });
    await waitFor(() => existsSync(join(cwd, "seen")));
    const [name = ""] = sandboxes(cwd);
    execFileSync("docker", ["kill", name], { stdio: "ignore" });
    const { outcomes } = await running;
    expect(outcomes[0]).toMatchObject({ state: "succeeded", attempts: 2, branch: "main" });
    expect(outcomes[0]?.commits).toHaveLength(2);
    expect(outcomes[0]?.commits.map(({ sha }) => sha)).toEqual(
      git(cwd, "rev-list", "--reverse", `${tip}..main`).split("\n"),
    );
    const left = execFileSync("docker", ["ps", "--all", "--quiet", "--filter", `name=${name}`], {
      encoding: "utf8",
    });
    expect(left).toBe("");
  });
});

describe("a task that failed for another reason", () => {
  /** Fails in the first attempt only. */
  const failingOnce = command("[ ! -e one ] || exit 0; echo x > one; git add .; git commit -qm One; exit 1");
  const failing = (cwd: string) => [
    task(cwd, [], { agent: failingOnce, ...onBranch("one") }),
    task(cwd, [{ exit: 3 }], onBranch("two")),
  ];

  it("is tried again if retryIf says so, from what it had committed, and not more often than retries say", async () => {
    const asked: [string, number][] = [];
    const { outcomes, events } = await watchFleet(failing(temporaryRepository()), {
      retries: 2,
      retryIf: (error, attempt) => {
        asked.push([error.name, attempt]);
        return error instanceof AgentFailedError;
      },
    });
    expect(outcomes.map(({ state, attempts }) => [state, attempts])).toEqual([
      ["succeeded", 2],
      ["failed", 3],
    ]);
    expect(outcomes[0]).toMatchObject({ commits: [{}], lost: [{ name: "AgentFailedError" }] });
    expect(asked.sort()).toEqual([
      ["AgentFailedError", 1],
      ["AgentFailedError", 1],
      ["AgentFailedError", 2],
    ]);
    expect(events.filter(({ type }) => type === "retried")).toHaveLength(3);
  });

  it("is not tried again if retryIf throws", async () => {
    const retryIf = () => {
      throw new Error("a bug");
    };
    const { outcomes } = await watchFleet(failing(temporaryRepository()), { retries: 2, retryIf });
    expect(outcomes.map(({ attempts }) => attempts)).toEqual([1, 1]);
    expect(outcomes[0]?.error).toBeInstanceOf(AgentFailedError);
  });
});

it("tasks have what is in the defaults, in a list and one by one", async () => {
  const cwd = temporaryRepository();
  const { agent, sandbox } = task(cwd, [commit("Work")]);
  const options = { defaults: { agent, sandbox, cwd, prompt: "Work" } };
  async function* oneByOne() {
    yield onBranch("three");
  }
  const results = [
    await runAll([onBranch("one"), onBranch("two")], options),
    await runAll(oneByOne(), options),
  ];
  expect(results.flatMap(({ outcomes }) => outcomes.map(({ state, branch }) => [state, branch]))).toEqual([
    ["succeeded", "one"],
    ["succeeded", "two"],
    ["succeeded", "three"],
  ]);
  const wrong = { defaults: { ...options.defaults, maxIterations: 0 } };
  await expect(runAll([onBranch("four")], wrong)).rejects.toMatchObject({ name: "InvalidTaskError" });
});
