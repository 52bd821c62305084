import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { ownIdentity } from "../../src/process/kill/processIdentity.ts";
import { readRun } from "../../src/runs/storedRun.ts";
import { begun, entry, RUN_ID, runDirectory } from "./journal/journals.ts";

const stateOf = (...lines: (object | string)[]) => readRun(runDirectory(lines))?.state;

describe("the state of a run", () => {
  const owner = ownIdentity();

  it.each([
    ["running", "its process runs", {}],
    ["dead", "no process has its pid", { pid: 4_194_303 }],
    ["dead", "another process has its pid", { startTime: "1" }],
    ["dead", "the machine was started anew", { bootId: "another" }],
    ["running", "it is on another machine, which cannot be checked", { host: `not-${hostname()}`, pid: 1 }],
    ["running", "it is in another pid namespace", { pidNamespace: "pid:[1]", pid: 4_194_303 }],
  ])("is %s if %s", (state, _, changes) => {
    expect(stateOf(begun({ owner: { ...owner, ...changes } }))).toBe(state);
  });

  it.each(["succeeded", "failed", "aborted"])(
    "is %s if its journal says so, even without its process",
    (state) => {
      const dead = begun({ owner: { ...owner, startTime: "1" } });
      expect(stateOf(begun(), entry("ended", { state }))).toBe(state);
      expect(stateOf(dead, entry("ended", { state }))).toBe(state);
    },
  );
});

describe("the usage of a run", () => {
  const usage = (tokens: number) => ({
    usage: { inputTokens: tokens, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, outputTokens: 0 },
  });
  const iteration = (number: number, tokens: number) =>
    entry("iteration", { iteration: number, commits: [], ...usage(tokens) });

  it.each([
    ["the sum of its iterations", [entry("usage", usage(7)), iteration(1, 10), iteration(2, 5)], 15],
    ["the latest total, during an iteration", [iteration(1, 10), entry("usage", usage(13))], 13],
  ])("is %s", (_, entries, tokens) => {
    expect(readRun(runDirectory([begun(), ...entries]))?.usage?.inputTokens).toBe(tokens);
  });
});

describe("a journal", () => {
  it("is read without its torn lines", () => {
    const run = readRun(
      runDirectory([
        begun(),
        '{"at":"2030-01-02T03:05:00.000Z","type":"iter\n',
        entry("iteration", { iteration: 2, commits: ["c2"] }),
        "\n",
        "null\n",
        "[]\n",
        '"text"\n',
        '{"at":"2030-01-02T03:05:00.000Z","type":"ended","state":"succ',
      ]),
    );
    expect(run).toMatchObject({ state: "running", iterations: 1, commits: ["c2"] });
  });

  it("may contain entries of a later version", () => {
    expect(readRun(runDirectory([begun({ later: 1 }), entry("later", { what: "moon" })]))).toMatchObject({
      runId: RUN_ID,
      owns: [],
    });
  });

  it.each([
    ["is empty", []],
    ["has no first entry", [entry("ended", { state: "succeeded" })]],
    ["belongs to another run", [begun({ runId: "another" })]],
    ["names no process", [begun({ owner: undefined })]],
    ["names something else as its process", [begun({ owner: "me" })]],
  ])("that %s is no run", (_, lines) => {
    expect(readRun(runDirectory(lines))).toBeUndefined();
  });

  it("adds up iterations: tokens, and each commit once", () => {
    const usage = { inputTokens: 1, cacheCreationInputTokens: 2, cacheReadInputTokens: 3, outputTokens: 4 };
    const run = readRun(
      runDirectory([
        begun(),
        entry("iteration", { iteration: 1, commits: ["a"], usage }),
        entry("iteration", { iteration: 2, commits: ["a", "b"] }),
        entry("iteration", { iteration: 3, commits: [], usage }),
      ]),
    );
    expect(run).toMatchObject({
      iterations: 3,
      commits: ["a", "b"],
      usage: { inputTokens: 2, cacheCreationInputTokens: 4, cacheReadInputTokens: 6, outputTokens: 8 },
    });
  });
});

describe("what a run owns", () => {
  const creating = (what: string, name: unknown) => entry("creating", { what, name });
  const removed = (what: string, name: string) => entry("removed", { what, name });
  const execId = "0123456789abcdef".repeat(2);

  it("is everything that it created and has not removed", () => {
    const lines = [
      begun(),
      creating("branch", "b"),
      creating("worktree", "/w"),
      creating("sandbox", `sanddune-${RUN_ID}`),
      removed("sandbox", `sanddune-${RUN_ID}`),
      creating("sandbox", `sanddune-${RUN_ID}-recovery`),
      creating("sandbox", `sanddune-${RUN_ID}-tests`),
      creating("sandbox", `sanddune-${RUN_ID}-tests-12`),
      creating("host processes", execId),
      removed("worktree", "/elsewhere"),
    ];
    expect(readRun(runDirectory(lines))?.owns).toEqual([
      { what: "branch", name: "b" },
      { what: "worktree", name: "/w" },
      { what: "sandbox", name: `sanddune-${RUN_ID}-recovery` },
      { what: "sandbox", name: `sanddune-${RUN_ID}-tests` },
      { what: "sandbox", name: `sanddune-${RUN_ID}-tests-12` },
      { what: "host processes", name: execId },
    ]);
  });

  it("is a snapshot where its sandbox was, even when that is removed", () => {
    const sandbox = `sanddune-${RUN_ID}`;
    const lines = [
      begun(),
      creating("sandbox", sandbox),
      entry("placed", { what: "sandbox", name: sandbox, place: "ssh://there" }),
      creating("sandbox", `${sandbox}-tests`),
      entry("placed", { what: "sandbox", name: `${sandbox}-tests`, place: "ssh://elsewhere" }),
      creating("snapshot", `${sandbox}-fork-1`),
      removed("sandbox", sandbox),
      removed("sandbox", `${sandbox}-tests`),
    ];
    expect(readRun(runDirectory(lines))?.owns).toEqual([
      { what: "snapshot", name: `${sandbox}-fork-1`, place: "ssh://there" },
    ]);
  });

  it.each([
    ["snapshot", "latest"],
    ["snapshot", `sanddune-${RUN_ID}-fork-1/..`],
    ["sandbox", "sanddune-another"],
    ["sandbox", "x/../../home"],
    ["sandbox", `sanddune-${RUN_ID}/..`],
    ["sandbox", `sanddune-${RUN_ID}-tests-1/..`],
    ["sandbox", `sanddune-${RUN_ID}-tests\n`],
    ["sandbox", ""],
    ["host processes", ""],
    ["host processes", "0"],
    ["host processes", `${execId}\n`],
    ["worktree", undefined],
  ])("is no %s called %j, whatever the journal says", (what, name) => {
    expect(readRun(runDirectory([begun(), creating(what, name)]))?.owns).toEqual([]);
  });
});
