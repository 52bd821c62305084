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

/** How a run is, or how it has ended. A dead one was killed, or its machine was: it could not tidy up. */
export type RunState = "running" | EndState | "dead";

/** What an agent worked in, and on. */
export interface RunWork {
  readonly checkoutPath: string;
  /** `undefined` when HEAD was detached. */
  readonly branch: string | undefined;
  /** The commit that the sandbox started from. */
  readonly tip: string;
  /** The sandbox had files of its own. */
  readonly isIsolated: boolean;
  /** Repositories in the checkout that are not the agent's: their paths in it, and what identifies them. */
  readonly nestedRepositories: readonly NestedEntry[];
}

export interface RunRecovery {
  /** Why its commits are still in the sandbox git directory; `undefined` if they were imported. */
  readonly reason: string | undefined;
}

/** What a journal tells of its run. */
export interface StoredRun {
  readonly runId: string;
  readonly runDirectory: string;
  readonly state: RunState;
  readonly kind: SessionKind;
  /** The session whose worktree or sandbox this one works in. */
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
  /** Whether all tests pass; not set unless the run was to go on until they do, and has ended. */
  readonly solved: boolean | undefined;
  /** Why it failed. */
  readonly problem: string | undefined;
  readonly logFilePath: string | undefined;
  readonly temporaryDirectory: string | undefined;
  readonly owns: readonly OwnedThing[];
  /** Where its agent worked, if it came so far. */
  readonly work: RunWork | undefined;
  /** A worktree that git was making for it and that was not finished. */
  readonly unfinishedWorktree: string | undefined;
  /** Set once its sandbox was ended and its commits were imported, after its death. */
  readonly recovery: RunRecovery | undefined;
  /** `sanddune clean` has been here since it died. */
  readonly isCleaned: boolean;
}

const ofType = <Type extends WrittenEntry["type"]>(entries: readonly WrittenEntry[], type: Type) =>
  entries.filter((entry): entry is Extract<WrittenEntry, { type: Type }> => entry.type === type);

/** Where run logs belong, wherever the repository was when the run began; their names begin with that of the run. */
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

/** What was used: by the iterations that are over and, while one lasts, what the run has written down since. */
const usageIn = (entries: readonly WrittenEntry[]): IterationUsage | undefined => {
  const latest = entries.findLast(({ type }) => type === "usage" || type === "iteration");
  if (latest?.type === "usage") return latest.usage;
  return ofType(entries, "iteration").reduce<IterationUsage | undefined>(
    (sum, { usage }) => (usage === undefined ? sum : addUsage(sum, usage)),
    undefined,
  );
};

/** Reads what a run has written down; `undefined` if it had not got so far as to say what it is. */
export const readRun = (runDirectory: string): StoredRun | undefined => {
  const entries = readJournal(runDirectory);
  const [begun] = ofType(entries, "begun");
  // The directory's name is what everything else is called by.
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
    recovery: ofType(entries, "recovered")
      .map(({ reason }) => ({ reason }))
      .at(-1),
    isCleaned: ofType(entries, "cleaned").length > 0,
  };
};

/** What has worked in the sandbox or the worktree of a run, and in what was made there. */
export const runsWithin = (runs: readonly StoredRun[], { runId }: StoredRun): StoredRun[] =>
  runs.filter(({ within }) => within === runId).flatMap((inner) => [inner, ...runsWithin(runs, inner)]);
