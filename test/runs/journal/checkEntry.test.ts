import { describe, expect, it } from "vitest";
import { checkEntry } from "../../../src/runs/journal/checkEntry.ts";
import { readRun } from "../../../src/runs/storedRun.ts";
import { begun, entry, RUN_ID, runDirectory } from "./journals.ts";

const USAGE = { inputTokens: 1, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, outputTokens: 2 };

describe("an entry of a journal counts", () => {
  it.each([
    begun(),
    begun({ name: "nightly", logFilePath: "/x/.sanddune/logs/a.log" }),
    entry("creating", { what: "branch", name: "b" }),
    entry("creating", { what: "worktree", name: "/w", isNew: true }),
    entry("created", { what: "worktree", name: "/w" }),
    entry("working", {
      checkout: "",
      tip: "a".repeat(40),
      isIsolated: false,
      nestedRepositories: [["mine/.git", "1:2"]],
    }),
    entry("recovered"),
    entry("recovered", { reason: "because" }),
    entry("kept", { what: "archive", name: "x.tar", reason: "because" }),
    entry("phase", { phase: "agent", durationMs: 3 }),
    entry("iteration", { iteration: 1, commits: ["abc"], usage: USAGE }),
    entry("ended", { state: "failed", problem: "no" }),
    entry("cleaned"),
  ])("if a run writes such entries: %j", (written) => {
    expect(checkEntry(written)).toEqual(written);
  });

  it.each([
    null,
    [],
    "begun",
    { ...begun(), at: "yesterday" },
    begun({ name: 1 }),
    begun({ agent: { toString: 1 } }),
    begun({ owner: undefined }),
    begun({ owner: { pid: -1, startTime: "", bootId: "", pidNamespace: "", host: "" } }),
    begun({ kind: "party" }),
    entry("creating", { what: "worktree", name: "a\0b" }),
    entry("creating", { what: "worktree", name: "/w", isNew: "yes" }),
    entry("working", { checkout: "", tip: "--all", isIsolated: false, nestedRepositories: [] }),
    entry("working", { checkout: "", tip: "a".repeat(40), isIsolated: false, nestedRepositories: [["x"]] }),
    entry("iteration", { iteration: 1, commits: [], usage: null }),
    entry("iteration", { iteration: 1, commits: [7] }),
    entry("ended", { state: "running" }),
    entry("toString"),
    entry("unheard-of"),
  ])("never if none does: %j", (written) => {
    expect(checkEntry(written)).toBeUndefined();
  });
});

describe("a stored run", () => {
  it("finds the run log after the repository was moved", () => {
    const run = readRun(runDirectory([begun({ logFilePath: `/old/place/${RUN_ID}-nightly.log` })]));
    expect(run?.logFilePath).toMatch(/\/logs\/20300102-030405-abcdef-nightly\.log$/);
  });

  it.each(["/etc/passwd", "/x/20300102-030405-ffffff.log"])(
    "has no run log that is not its own: %s",
    (path) => {
      expect(readRun(runDirectory([begun({ logFilePath: path })]))?.logFilePath).toBeUndefined();
    },
  );

  it("has the id of a run", () => {
    const directory = runDirectory([begun({ runId: "x; id" })]);
    expect(readRun(directory)).toBeUndefined();
  });
});
