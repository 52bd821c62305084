import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  AgentFailedError,
  type FleetEvent,
  InvalidOptionsError,
  InvalidTaskError,
  type RunOptions,
  RunStoppedError,
  runAll,
  type SandboxProvider,
  TaskAbortedError,
} from "../../../src/index.ts";
import { expectUntouched } from "../../cli/fixtures.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { commit, gate, onBranch, task, watchFleet } from "./fleets.ts";

const subjects = (cwd: string, branch: string): string[] =>
  git(cwd, "log", "--format=%s", `main..${branch}`).split("\n");

describe("a fleet", () => {
  it("does all tasks, so many at a time, and tells the outcomes in the order of the tasks; tells what an agent said as it comes, and keeps none of it", async () => {
    const cwd = temporaryRepository();
    let atWork = 0;
    let most = 0;
    const numbers = [0, 1, 2];
    const { outcomes, succeeded, failed, events } = await watchFleet(
      numbers.map((number) =>
        task(cwd, [{ text: `Speech ${number}` }, commit(`Work ${number}`)], {
          ...onBranch(`agent/${number}`),
          name: `speaker ${number}`,
        }),
      ),
      {
        concurrency: 2,
        onProgress: ({ type }) => {
          if (type === "started") most = Math.max(most, ++atWork);
          if (type === "finished") atWork--;
        },
      },
    );
    expect({ succeeded, failed, most, atWork }).toEqual({ succeeded: 3, failed: 0, most: 2, atWork: 0 });
    expect(outcomes).toEqual(
      numbers.map((index) =>
        expect.objectContaining({
          index,
          name: `speaker ${index}`,
          state: "succeeded",
          attempts: 1,
          iterations: [expect.anything()],
          branch: `agent/${index}`,
          commits: [{ sha: git(cwd, "rev-parse", `agent/${index}`) }],
          lost: [],
        }),
      ),
    );
    expect(
      events.filter(({ type }) => type === "started").map((event) => "index" in event && event.index),
    ).toEqual(numbers);
    for (const event of events.filter(({ type }) => type === "finished")) {
      const { outcome, result } = event as FleetEvent & { type: "finished" };
      expect(result?.stdout).toContain(`Speech ${outcome.index}`);
    }
    expect(JSON.stringify(outcomes)).not.toContain("Speech");
    expect(leftovers(cwd)).toEqual([]);
  });

  it("continues when a task fails, whatever is wrong with it, tells why, and does not try it again", async () => {
    const cwd = temporaryRepository();
    async function* tasks() {
      yield task(cwd, [commit("Half"), { exit: 3 }], onBranch("bad"));
      yield task(cwd, [commit("Never")], { ...onBranch("worse"), maxIterations: 0 });
      yield undefined as unknown as RunOptions;
      yield task(cwd, [commit("Whole")], onBranch("good"));
    }
    const { outcomes, succeeded, failed } = await watchFleet(tasks(), { concurrency: 1, retries: 3 });
    expect({ succeeded, failed }).toEqual({ succeeded: 1, failed: 3 });
    expect(outcomes.map(({ state }) => state)).toEqual(["failed", "failed", "failed", "succeeded"]);
    expect(outcomes.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 1]);
    const [bad, worse, none, good] = outcomes;
    expect(bad?.error).toBeInstanceOf(AgentFailedError);
    expect(bad).toMatchObject({ branch: "bad", commits: [{ sha: git(cwd, "rev-parse", "bad") }] });
    expect(worse?.error).toBeInstanceOf(InvalidOptionsError);
    expect(none?.error).toBeInstanceOf(InvalidOptionsError);
    expect(worse).toMatchObject({ commits: [] });
    expect(good).toMatchObject({ branch: "good" });
    expect(subjects(cwd, "good")).toEqual(["Whole"]);
  });

  it("takes a task when there is room for it, and keeps no outcome if none is wanted", async () => {
    const cwd = temporaryRepository();
    let taken = 0;
    let finished = 0;
    let mostAhead = 0;
    async function* tasks() {
      while (taken < 3) {
        mostAhead = Math.max(mostAhead, ++taken - finished);
        yield task(cwd, [{ text: "Nothing to do" }], onBranch(`b${taken}`));
      }
    }
    const result = await runAll(tasks(), {
      concurrency: 2,
      keepOutcomes: false,
      onProgress: ({ type }) => {
        if (type === "finished") finished++;
        throw new Error("what a callback throws ends nothing");
      },
    });
    expect({ taken, finished, mostAhead }).toEqual({ taken: 3, finished: 3, mostAhead: 2 });
    expect(result).toMatchObject({ outcomes: [], succeeded: 3, failed: 0, aborted: 0, notStarted: 0 });
  });

  it("rejects with what the source of its tasks throws, once the runs that were begun are over", async () => {
    const cwd = temporaryRepository();
    const reason = new Error("the queue is gone");
    async function* tasks() {
      yield task(cwd, [commit("Before")], onBranch("b"));
      throw reason;
    }
    await expect(watchFleet(tasks(), { concurrency: 2 })).rejects.toBe(reason);
    expect(subjects(cwd, "b")).toEqual(["Before"]);
    expect(leftovers(cwd)).toEqual([]);
  });

  it("refuses a list in which a task is wrong, or in the way of another one, and starts none of the others", async () => {
    const cwd = temporaryRepository();
    const good = () => task(cwd, [commit("Never")], onBranch("a"));
    for (const wrong of [task(cwd, [], { maxIteration: 3 }), good()]) {
      const events: FleetEvent[] = [];
      const onProgress = (event: FleetEvent) => void events.push(event);
      const refused = runAll<SandboxProvider, unknown>([good(), wrong], { onProgress });
      await expect(refused).rejects.toBeInstanceOf(InvalidTaskError);
      expect(events).toEqual([]);
    }
    expectUntouched(cwd);
  });

  it("fails only the second of two tasks that are on one branch, if they come one after the other", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    async function* tasks() {
      yield task(cwd, [wait("first")], onBranch("a"));
      await reached("first");
      yield task(cwd, [commit("Second")], onBranch("a"));
    }
    const { outcomes } = await runAll(tasks(), {
      concurrency: 2,
      onProgress: (event) => {
        if (event.type === "finished" && event.outcome.index === 1) open("first");
      },
    });
    expect(outcomes.map(({ state }) => state)).toEqual(["succeeded", "failed"]);
    expect(outcomes[1]?.error).toMatchObject({ name: "BranchInUseError", branch: "a" });
  });

  it("has nothing to do with nothing to do", async () => {
    expect(await runAll([])).toEqual({
      outcomes: [],
      succeeded: 0,
      unsolved: 0,
      failed: 0,
      aborted: 0,
      notStarted: 0,
    });
  });
});

describe("aborting a fleet", () => {
  const startThree = (cwd: string, signal: AbortSignal) => {
    const { wait, reached } = gate();
    // Committed in the first iteration: what an isolated sandbox has committed since the last import is fetched, too.
    const steps = (name: string) => [commit(`Work of ${name}`), wait(name)];
    const running = watchFleet(
      ["one", "two", "three"].map((name) => task(cwd, steps(name), { ...onBranch(name), name })),
      { concurrency: 2, signal },
    );
    return { running, reached: Promise.all([reached("one"), reached("two")]) };
  };

  it("stops what runs, imports its commits, starts nothing more, and tells of all of them", async () => {
    const cwd = temporaryRepository();
    const stop = new AbortController();
    const { running, reached } = startThree(cwd, stop.signal);
    await reached;
    const reason = new Error("enough");
    stop.abort(reason);
    const { outcomes, events, ...counts } = await running;
    expect(counts).toMatchObject({ succeeded: 0, failed: 0, aborted: 2, notStarted: 1 });
    for (const name of ["one", "two"]) {
      const outcome = outcomes.find((each) => each.name === name);
      expect(outcome?.error).toBeInstanceOf(TaskAbortedError);
      expect(outcome?.error).toHaveProperty("cause", reason);
      expect(outcome).toMatchObject({ state: "aborted", branch: name, attempts: 1 });
      expect(outcome?.commits).toEqual([{ sha: git(cwd, "rev-parse", name) }]);
      expect(existsSync(outcome?.preservedWorktreePath ?? "")).toBe(true);
    }
    expect(outcomes[2]).toEqual({
      index: 2,
      name: "three",
      state: "not started",
      attempts: 0,
      durationMs: 0,
      commits: [],
      lost: [],
    });
    expect(git(cwd, "branch", "--list", "three")).toBe("");
    expect(events.filter(({ type }) => type === "finished")).toHaveLength(3);
    expect(events.filter(({ type }) => type === "started")).toHaveLength(2);
    expect(readdirSync(join(cwd, ".git/sanddune/locks"))).toEqual([]);
  });

  it("that was aborted before it began starts nothing", async () => {
    const cwd = temporaryRepository();
    const tasks = [task(cwd, [commit("Never")], onBranch("b"))];
    const { outcomes, notStarted } = await watchFleet(tasks, { signal: AbortSignal.abort() });
    expect(notStarted).toBe(1);
    expect(outcomes[0]?.state).toBe("not started");
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it("is not what the signal of one task, or sanddune stop, does: the others continue", async () => {
    const cwd = temporaryRepository();
    const { wait, reached, open } = gate();
    const own = new AbortController();
    const steps = (name: string) => [commit(`Work of ${name}`), wait(name)];
    const running = watchFleet(
      [
        task(cwd, steps("one"), { ...onBranch("one"), signal: own.signal }),
        task(cwd, steps("two"), onBranch("two")),
        task(cwd, steps("three"), onBranch("three")),
      ],
      { concurrency: 3 },
    );
    await Promise.all(["one", "two", "three"].map(reached));
    const reason = new Error("not this one");
    own.abort(reason);
    const runs = join(cwd, ".sanddune/runs");
    const ids = readdirSync(runs).filter((name) => name !== ".gitignore");
    const second = ids.find((id) =>
      readFileSync(join(runs, id, "journal.jsonl"), "utf8").includes('"sourceBranch":"two"'),
    );
    writeFileSync(join(runs, second ?? "", "stop"), "");
    await waitFor(() => readFileSync(join(runs, second ?? "", "journal.jsonl"), "utf8").includes('"ended"'));
    open("three");
    const { outcomes } = await running;
    expect(outcomes.map(({ state }) => state)).toEqual(["aborted", "aborted", "succeeded"]);
    expect(outcomes[0]?.error).toBeInstanceOf(TaskAbortedError);
    expect(outcomes[0]?.error).toHaveProperty("cause", reason);
    expect(outcomes[0]).toMatchObject({ branch: "one", commits: [{}] });
    expect(outcomes[1]?.error).toBeInstanceOf(RunStoppedError);
    expect(outcomes[1]).toMatchObject({ branch: "two", commits: [{}] });
    expect(subjects(cwd, "three")).toEqual(["Work of three"]);
  });
});
