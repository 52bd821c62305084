import { basename, dirname, join, resolve } from "node:path";
import type { EndState, SessionKind } from "../display/contract.ts";
import type { NestedEntry } from "../git/nestedRepositories/journalEntries.ts";
import { configDirectoryPart } from "../options/configDirectory.ts";
import type { IterationUsage } from "../options/results.ts";
import { addUsage } from "../options/usage.ts";
import { isRunning, type ProcessIdentity } from "../process/kill/processIdentity.ts";
import type { WrittenEntry } from "./journal/checkEntry.ts";
import { type OwnedThing, ownedThings, unfinishedWorktree } from "./journal/ownedThings.ts";
import { readJournal } from "./journal/readJournal.ts";
import { isRunId } from "./journal/runId.ts";

/** The state of a run. A dead run lost its process, or its machine, before it could clean up. */
export type RunState = "running" | EndState | "dead";

/** Where an agent worked, and on what. */
export interface RunWork {
  readonly checkoutPath: string;
  /** `undefined` when HEAD was detached. */
  readonly branch: string | undefined;
  /** The commit that the sandbox started from. */
  readonly tip: string;
  /** The sandbox had its own copy of the files. */
  readonly isIsolated: boolean;
  /** The user's repositories nested in the checkout: relative path and identity of each. */
  readonly nestedRepositories: readonly NestedEntry[];
}

/** A run as its journal describes it. */
export interface StoredRun {
  readonly runId: string;
  readonly runDirectory: string;
  readonly state: RunState;
  readonly kind: SessionKind;
  /** The run id of the parent session, whose worktree or sandbox this one uses. */
  readonly within: string | undefined;
  readonly name: string | undefined;
  readonly agent: string | undefined;
  /** The sandbox provider's name. */
  readonly sandbox: string | undefined;
  readonly strategy: string;
  readonly branch: string | undefined;
  readonly targetBranch: string | undefined;
  readonly owner: ProcessIdentity;
  readonly begunAt: Date;
  readonly endedAt: Date | undefined;
  readonly iterations: number;
  readonly usage: IterationUsage | undefined;
  readonly commits: readonly string[];
  /** Whether all tests pass; only set if the run was to continue until they do, and has ended. */
  readonly solved: boolean | undefined;
  /** Why it failed. */
  readonly problem: string | undefined;
  readonly logFilePath: string | undefined;
  readonly temporaryDirectory: string | undefined;
  readonly owns: readonly OwnedThing[];
  /** Set once an agent was about to start. */
  readonly work: RunWork | undefined;
  /** A worktree that git had not finished creating. */
  readonly unfinishedWorktree: string | undefined;
  /** That worktree was a copy of another one's files: nothing in it exists only there. */
  readonly isUnfinishedCopy: boolean;
  /** Set once the dead run was recovered. The reason is why commits are still in the sandbox git directory. */
  readonly recovery: { readonly reason: string | undefined } | undefined;
  /** `sanddune clean` has cleaned up after the dead run. */
  readonly isCleaned: boolean;
}

const ofType = <Type extends WrittenEntry["type"]>(entries: readonly WrittenEntry[], type: Type) =>
  entries.filter((entry): entry is Extract<WrittenEntry, { type: Type }> => entry.type === type);

/** The path of a run log where the repository is now: it may have moved. A log's name begins with the run id. */
const logIn = (runDirectory: string, recorded: string | undefined): string | undefined => {
  const name = basename(recorded ?? "");
  if (!name.startsWith(basename(runDirectory))) return undefined;
  return join(configDirectoryPart(dirname(dirname(runDirectory)), "logs"), name);
};

const workIn = (runDirectory: string, entries: readonly WrittenEntry[]): RunWork | undefined => {
  const working = ofType(entries, "working").at(-1);
  if (working === undefined) return undefined;
  const { branch, tip, isIsolated, nestedRepositories } = working;
  const mainCheckout = dirname(dirname(dirname(runDirectory)));
  const checkoutPath = resolve(mainCheckout, working.checkout);
  return { checkoutPath, branch, tip, isIsolated, nestedRepositories };
};

/** The usage of the finished iterations; during an iteration, the latest total that the run has written. */
const usageIn = (entries: readonly WrittenEntry[]): IterationUsage | undefined => {
  const latest = entries.findLast(({ type }) => type === "usage" || type === "iteration");
  if (latest?.type === "usage") return latest.usage;
  return ofType(entries, "iteration").reduce<IterationUsage | undefined>(
    (sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)),
    undefined,
  );
};

/** Reads a run from its journal; `undefined` if the journal has no valid first entry. */
export const readRun = (runDirectory: string): StoredRun | undefined => {
  const entries = readJournal(runDirectory);
  const [begun] = ofType(entries, "begun");
  // Everything else is named after the directory.
  if (begun?.runId !== basename(runDirectory) || !isRunId(begun.runId)) return undefined;
  const ended = ofType(entries, "ended").at(-1);
  const iterations = ofType(entries, "iteration");
  return {
    runId: begun.runId,
    runDirectory,
    state: ended?.state ?? (isRunning(begun.owner) ? "running" : "dead"),
    kind: begun.kind,
    within: begun.within,
    name: begun.name,
    agent: begun.agent,
    sandbox: begun.sandbox,
    strategy: begun.strategy,
    branch: begun.sourceBranch,
    targetBranch: begun.targetBranch,
    owner: begun.owner,
    begunAt: new Date(begun.at),
    endedAt: ended && new Date(ended.at),
    iterations: iterations.length,
    usage: usageIn(entries),
    commits: [...new Set(iterations.flatMap(({ commits }) => commits))],
    solved: ended?.solved,
    problem: ended?.problem,
    logFilePath: logIn(runDirectory, begun.logFilePath),
    temporaryDirectory: begun.temporaryDirectory,
    owns: ownedThings(begun.runId, entries),
    work: workIn(runDirectory, entries),
    unfinishedWorktree: unfinishedWorktree(entries),
    isUnfinishedCopy:
      unfinishedWorktree(entries) !== undefined &&
      entries.some((entry) => entry.type === "creating" && entry.isCopy === true),
    recovery: ofType(entries, "recovered")
      .map(({ reason }) => ({ reason }))
      .at(-1),
    isCleaned: ofType(entries, "cleaned").length > 0,
  };
};

/** The child sessions of a run, and theirs. */
export const runsWithin = (runs: readonly StoredRun[], { runId }: StoredRun): StoredRun[] =>
  runs.filter(({ within }) => within === runId).flatMap((inner) => [inner, ...runsWithin(runs, inner)]);
