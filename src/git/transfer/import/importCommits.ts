import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { interruptible } from "../../../boundary/interruptible.ts";
import { BranchMovedError, ImportRefusedError, type SandduneError } from "../../../errors.ts";
import type { KeptRef } from "../../../options/results.ts";
import type { CommitDescription } from "../../commitDescription.ts";
import { git } from "../../git.ts";
import { prepareToRead } from "../../longLived/sharedGit.ts";
import {
  branchRef,
  isAncestor,
  isDetached,
  isGitError,
  lockProblem,
  type RefUpdate,
  sessionReason,
  updateRefs,
} from "../../refs.ts";
import { readRunHistory } from "../../runChanges.ts";
import { beforeRewriteRef, tipRef, uncommittedRef } from "../../runRefs.ts";
import type { Checkpoint } from "../../snapshots/checkpoint.ts";
import { measurePack } from "../bundle/measurePack.ts";
import { type Bundle, packOf, readBundle } from "../bundle/readBundle.ts";
import type { SandboxExport } from "../export/fetchBundles.ts";
import { IMPORT_LIMITS, type ImportLimits, limitExceeded } from "../limits.ts";
import { importCheckpoints } from "./importCheckpoints.ts";
import { type Heads, keepOtherRefs } from "./keepOtherRefs.ts";
import { type ComparedTrees, compareBoundedTrees, requireBoundedTrees } from "./measureTrees.ts";
import { findReservedPathChange } from "./reservedPaths.ts";

export interface ImportTarget {
  readonly cwd: string;
  readonly runId: string;
  /** The branch to move; `undefined` to move a detached HEAD. */
  readonly branch: string | undefined;
  /** The first commit of the run. */
  readonly base: string;
  /** Commits that the host had before the run. */
  readonly knownCommits?: readonly string[];
  /** The expected tip of the branch: the base, or the tip after the last import. */
  readonly expectedTip: string;
  /** Whether the agent may rewrite commits from before the run. It may always rewrite its own. */
  readonly allowsRewrite: boolean;
  /** Checkpoints that the host has recorded and not imported. */
  readonly checkpoints?: readonly Checkpoint[];
  /** Called with the other refs that are kept, even if the import fails afterwards. */
  readonly onKept?: (kept: readonly KeptRef[]) => void;
  readonly limits?: ImportLimits | undefined;
}

const sourceOf = ({ branch }: ImportTarget): string => (branch === undefined ? "HEAD" : branchRef(branch));

export interface ImportedCommits {
  readonly tip: string;
  /** A commit of the uncommitted work of an isolated sandbox, on top of the tip. A ref of the run keeps it. */
  readonly uncommitted: string | undefined;
  /** The agent's commits that refs of the bundle point to. */
  readonly heads: readonly string[];
  /** `undefined` if the branch did not move. */
  readonly move: BranchMove | undefined;
  readonly warnings: readonly string[];
}

/** Facts about the commits that a branch was moved to. */
export interface BranchMove {
  /** The commits since the base that the host did not have before, oldest first. */
  readonly commits: readonly CommitDescription[];
  /** The files that differ between the base and the tip. */
  readonly changes: ComparedTrees;
  /** The base is in the history of the tip. */
  readonly buildsOnBase: boolean;
}

/**
 * Stores the objects after git has checked each of them, and that no object they refer to is missing. `git fetch` would
 * not do: before git 2.46 it does not check objects of a bundle. A single thread, because each thread keeps an object
 * in memory.
 */
const storeObjects = (cwd: string, bundle: Bundle): Effect.Effect<void, SandduneError> =>
  git(["index-pack", "--threads=1", "--strict", "--fix-thin", "--stdin"], {
    cwd,
    stdin: packOf(bundle),
  }).pipe(
    Effect.asVoid,
    Effect.mapError((error) =>
      isGitError(error) ? new ImportRefusedError("git found them unsound", bundle.path, error.stderr) : error,
    ),
  );

/** Measures and stores a bundle, and resolves with its refs. */
const storeBundle = Effect.fnUntraced(function* (
  { cwd, base, limits = IMPORT_LIMITS }: Pick<ImportTarget, "cwd" | "base" | "limits">,
  bundlePath: string,
  mustBuildOnBase: (bundle: Bundle) => boolean = () => true,
): Effect.fn.Return<Heads, SandduneError> {
  const { bundle, mayHoldCommits } = yield* interruptible(async () => {
    const opened = readBundle(bundlePath);
    if (opened.heads.size > limits.refs) throw limitExceeded("refs", bundlePath, limits);
    return { bundle: opened, ...(await measurePack(opened, base.length / 2, limits)) };
  });
  if (bundle.prerequisites.length === 0 && mayHoldCommits && mustBuildOnBase(bundle)) {
    const problem = "they do not build on any commit of this repository";
    return yield* Effect.fail(new ImportRefusedError(problem, bundlePath));
  }
  // The objects are read next.
  yield* prepareToRead;
  yield* storeObjects(cwd, bundle);
  return bundle.heads;
});

/** The new tip of the source branch, as the sandbox reports it. */
const tipOf = (
  target: ImportTarget,
  exported: SandboxExport,
  heads: Heads,
): Effect.Effect<string, SandduneError> => {
  if (exported.source === "broken") {
    const problem = `the ref ${sourceOf(target)} in the sandbox does not point to an existing commit`;
    return Effect.fail(new ImportRefusedError(problem, exported.bundlePath));
  }
  return Effect.succeed(heads.get(sourceOf(target)) ?? exported.tip ?? target.expectedTip);
};

/** Keeps the sandbox's uncommitted work by a ref. The bundle lacks it if the host has it already. */
const importUncommitted = Effect.fnUntraced(function* (
  { cwd, runId, base, limits }: ImportTarget,
  { uncommitted, bundlePath }: SandboxExport,
): Effect.fn.Return<string | undefined, SandduneError> {
  if (uncommitted === undefined) return undefined;
  const refused = (output: string) =>
    new ImportRefusedError("the sandbox names a commit that it did not send", bundlePath, output);
  yield* updateRefs(cwd, [{ ref: uncommittedRef(runId), to: uncommitted }]).pipe(
    Effect.mapError((error) => (isGitError(error) ? refused(error.stderr) : error)),
  );
  yield* requireBoundedTrees(cwd, [{ from: base, to: uncommitted }], bundlePath, limits);
  return uncommitted;
});

const sharesHistory = (cwd: string, one: string, other: string): Effect.Effect<boolean, SandduneError> =>
  git(["merge-base", one, other], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map((result) => result.exitCode === 0),
  );

/** Moves the branch unless something else has moved it; otherwise a ref of the run keeps the commits. */
const moveBranch = Effect.fnUntraced(function* (
  target: ImportTarget,
  tip: string,
  bundlePath: string | undefined,
): Effect.fn.Return<{ readonly move?: BranchMove; readonly warnings: string[] }, SandduneError> {
  const { cwd, branch, base, expectedTip, runId } = target;
  if (tip === expectedTip) return { warnings: [] };
  const shownBranch = branch ?? "HEAD";
  const keptRef = tipRef(runId);
  const refuse = (error: SandduneError) =>
    updateRefs(cwd, [{ ref: keptRef, to: tip }]).pipe(Effect.andThen(Effect.fail(error)));
  // It reads commits only, so it need not wait until their trees were measured.
  const reading = yield* Effect.forkChild(readRunHistory(cwd, tip, [base, ...(target.knownCommits ?? [])]), {
    startImmediately: true,
  });
  // First, because it also refuses a commit that was not sent.
  const changes = yield* compareBoundedTrees(cwd, { from: base, to: tip }, bundlePath, target.limits).pipe(
    Effect.onError(() => Fiber.interrupt(reading)),
  );
  const { commits, parents } = yield* Fiber.join(reading);
  // Usually the first new commit is a child of the base.
  const isRewrite = !parents.has(base) && !(yield* isAncestor(cwd, base, tip));
  if (isRewrite && !(yield* sharesHistory(cwd, base, tip))) {
    const problem = `they have no history in common with the commit that the run began with`;
    return yield* refuse(new ImportRefusedError(problem, undefined, "", { keptRef }));
  }
  if (isRewrite && !target.allowsRewrite) {
    return yield* refuse(
      new BranchMovedError(shownBranch, "would lose commits that it had before the run", keptRef),
    );
  }
  const privatePath = findReservedPathChange(changes);
  if (privatePath !== undefined) {
    const problem = `they change ${JSON.stringify(privatePath)}, where sanddune keeps its own files`;
    return yield* refuse(new ImportRefusedError(problem, undefined, "", { keptRef }));
  }
  if (branch === undefined && !(yield* isDetached(cwd))) {
    return yield* refuse(
      new BranchMovedError(shownBranch, "was switched to a branch during the run", keptRef),
    );
  }
  const backup = beforeRewriteRef(runId);
  const updates: RefUpdate[] = [
    { ref: branch === undefined ? "HEAD" : branchRef(branch), to: tip, from: expectedTip },
    ...(isRewrite ? [{ ref: backup, to: expectedTip }] : []),
  ];
  yield* updateRefs(cwd, updates, sessionReason(runId)).pipe(
    Effect.catchIf(isGitError, ({ stderr }) => {
      const lock = lockProblem(stderr);
      const problem =
        lock === undefined ? "changed on the host during the run" : `could not be moved (${lock})`;
      return refuse(new BranchMovedError(shownBranch, problem, keptRef));
    }),
  );
  const rewritten = `The agent rewrote the history of ${shownBranch}. Its former tip is kept as ${backup} (${expectedTip}).`;
  return { move: { commits, changes, buildsOnBase: !isRewrite }, warnings: isRewrite ? [rewritten] : [] };
});

const describeRename = (target: ImportTarget): string =>
  `The agent renamed or deleted the branch ${target.branch ?? "HEAD"} in the sandbox, so nothing was put on it.`;

/** Measures and checks all objects of an export, then moves the host's branch by compare-and-swap. */
export const importCommits = Effect.fnUntraced(function* (
  target: ImportTarget,
  exported: SandboxExport,
): Effect.fn.Return<ImportedCommits, SandduneError> {
  const source = sourceOf(target);
  // Orphan branches and notes need not build on a commit of this repository; the source branch must.
  const mustBuildOnBase = (bundle: Bundle) => exported.source === "broken" || bundle.heads.has(source);
  const heads: Heads =
    exported.bundlePath === undefined
      ? new Map()
      : yield* storeBundle(target, exported.bundlePath, mustBuildOnBase);
  const keepOthers = (tip: string | undefined) => {
    const others = [...heads].filter(
      ([name, sha]) => name !== source && sha !== tip && sha !== exported.uncommitted,
    );
    return keepOtherRefs(target, new Map(others), exported.ownRefs);
  };
  const { checkpointsPath } = exported;
  const checkpoints = yield* importCheckpoints(
    target,
    target.checkpoints ?? [],
    checkpointsPath === undefined ? Effect.succeed(new Map()) : storeBundle(target, checkpointsPath),
  );
  const { tip, uncommitted, move, warnings } = yield* Effect.gen(function* () {
    const newTip = yield* tipOf(target, exported, heads);
    const kept = yield* importUncommitted(target, exported);
    return { tip: newTip, uncommitted: kept, ...(yield* moveBranch(target, newTip, exported.bundlePath)) };
  }).pipe(Effect.tapError(() => Effect.ignore(keepOthers(undefined))));
  return {
    tip,
    uncommitted,
    move,
    heads: [...new Set([...heads.values(), ...checkpoints.heads])].filter((sha) => sha !== uncommitted),
    warnings: [
      ...warnings,
      ...(exported.source === "renamed" ? [describeRename(target)] : []),
      ...(yield* keepOthers(tip)),
      ...checkpoints.warnings,
    ],
  };
});
