import * as Effect from "effect/Effect";
import { BranchMovedError, ImportRefusedError, type SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { type Bundle, packOf, readBundle } from "./bundle.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { holdCheckpoints } from "./checkpointImport.ts";
import type { SandboxExport } from "./exportFromSandbox.ts";
import { git } from "./git.ts";
import { findPrivateChange } from "./privateFiles.ts";
import {
  branchRef,
  isAncestor,
  isDetached,
  isGitError,
  type RefUpdate,
  resolveCommit,
  updateRefs,
} from "./refs.ts";
import {
  beforeRewriteRef,
  SANDBOX_STASH_REFS,
  SANDBOX_UNCOMMITTED_REF,
  strayRef,
  tipRef,
  uncommittedRef,
} from "./runRefs.ts";

export interface ImportTarget {
  readonly cwd: string;
  readonly runId: string;
  /** The branch to move; `undefined` to move a detached HEAD. */
  readonly branch: string | undefined;
  /** The commit that the run began with. */
  readonly base: string;
  /** Where that branch is expected to be now: the base, or where the last import left it. */
  readonly expectedTip: string;
  /** Whether the agent may replace commits that were there before the run. Its own it always may. */
  readonly allowsRewrite: boolean;
  /** Checkpoints that the host has heard of and does not have yet. */
  readonly checkpoints?: readonly Checkpoint[];
}

export interface ImportedCommits {
  readonly tip: string;
  /** A commit on top of the tip that holds the uncommitted work of an isolated sandbox; held by a ref of the run's. */
  readonly uncommitted: string | undefined;
  /** The commits of the agent's that were handed over by name. */
  readonly heads: readonly string[];
  readonly warnings: readonly string[];
}

type Heads = ReadonlyMap<string, string>;

/**
 * Takes the objects over after git has checked every one of them and that nothing they refer to is missing; before
 * that nothing is written. `git fetch` would not do: until git 2.46 it does not check what comes from a bundle.
 */
const storeObjects = (cwd: string, bundle: Bundle): Effect.Effect<void, SandduneError> =>
  git(["index-pack", "--strict", "--fix-thin", "--stdin"], { cwd, stdin: packOf(bundle) }).pipe(
    Effect.asVoid,
    Effect.mapError((error) =>
      isGitError(error) ? new ImportRefusedError("git found them unsound", bundle.path, error.stderr) : error,
    ),
  );

/** Stores what the bundle holds, and gives the refs that it offers. */
const takeOver = Effect.fnUntraced(function* (
  target: Pick<ImportTarget, "cwd">,
  bundlePath: string,
): Effect.fn.Return<Heads, SandduneError> {
  const bundle = yield* interruptible(
    () => readBundle(bundlePath),
    (reason) => reason as SandduneError,
  );
  if (bundle.prerequisites.length === 0) {
    const problem = "they do not build on any commit of this repository";
    return yield* Effect.fail(new ImportRefusedError(problem, bundlePath));
  }
  yield* storeObjects(target.cwd, bundle);
  return bundle.heads;
});

/** Where the source branch shall be. A commit that the sandbox names must be here: handed over, or known before. */
const resolveTip = Effect.fnUntraced(function* (
  target: ImportTarget,
  offeredTip: string | undefined,
  exported: SandboxExport,
): Effect.fn.Return<string, SandduneError> {
  const tip = offeredTip ?? exported.tip ?? target.expectedTip;
  if (tip !== target.expectedTip && (yield* resolveCommit(target.cwd, tip)) === undefined) {
    const problem = `the sandbox names the commit ${tip} but did not hand it over`;
    return yield* Effect.fail(new ImportRefusedError(problem, exported.bundlePath));
  }
  return tip;
});

/**
 * Holds the uncommitted work of an isolated sandbox by a ref of the run's own. Work that has not changed since the last
 * import is not handed over again: the host has it.
 */
const holdUncommitted = Effect.fnUntraced(function* (
  { cwd, runId }: ImportTarget,
  offered: string | undefined,
  { uncommitted = offered, bundlePath }: SandboxExport,
): Effect.fn.Return<string | undefined, SandduneError> {
  if (uncommitted === undefined) return undefined;
  const refused = (output = "") =>
    new ImportRefusedError("the sandbox names a commit that it did not hand over", bundlePath, output);
  if (!/^[0-9a-f]+$/.test(uncommitted)) return yield* Effect.fail(refused());
  yield* updateRefs(cwd, [{ ref: uncommittedRef(runId), to: uncommitted }]).pipe(
    Effect.mapError((error) => (isGitError(error) ? refused(error.stderr) : error)),
  );
  return uncommitted;
});

const sharesHistory = (cwd: string, one: string, other: string): Effect.Effect<boolean, SandduneError> =>
  git(["merge-base", one, other], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map((result) => result.exitCode === 0),
  );

/** Moves the branch if it still is where the run left it; otherwise the commits stay under a ref of the run's own. */
const moveBranch = Effect.fnUntraced(function* (
  target: ImportTarget,
  tip: string,
): Effect.fn.Return<string[], SandduneError> {
  const { cwd, branch, base, expectedTip, runId } = target;
  if (tip === expectedTip) return [];
  const shownBranch = branch ?? "HEAD";
  const keptRef = tipRef(runId);
  const refuse = (error: SandduneError) =>
    updateRefs(cwd, [{ ref: keptRef, to: tip }]).pipe(Effect.andThen(Effect.fail(error)));
  const isRewrite = !(yield* isAncestor(cwd, base, tip));
  if (isRewrite && !(yield* sharesHistory(cwd, base, tip))) {
    const problem = `they have no history in common with the commit that the run began with; they are kept as ${keptRef}`;
    return yield* refuse(new ImportRefusedError(problem, undefined));
  }
  if (isRewrite && !target.allowsRewrite) {
    return yield* refuse(
      new BranchMovedError(shownBranch, "would lose commits that it had before the run", keptRef),
    );
  }
  const privatePath = yield* findPrivateChange(cwd, base, tip).pipe(Effect.catch(refuse));
  if (privatePath !== undefined) {
    const problem = `they change ${JSON.stringify(privatePath)}, where sanddune keeps its own files; they are kept as ${keptRef}`;
    return yield* refuse(new ImportRefusedError(problem, undefined));
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
  yield* updateRefs(cwd, updates, `sanddune: run ${runId}`).pipe(
    Effect.catchIf(isGitError, () =>
      refuse(new BranchMovedError(shownBranch, "changed on the host during the run", keptRef)),
    ),
  );
  return isRewrite
    ? [
        `The agent rewrote the history of ${shownBranch}. Its former tip is kept as ${backup} (${expectedTip}).`,
      ]
    : [];
});

/** Refs besides the source branch that are kept; more than anyone would look at stay behind. */
const MAX_STRAYS = 50;

const describeStray = (name: string): string => {
  if (name === "HEAD") return "committed to a detached HEAD";
  if (name.startsWith(SANDBOX_STASH_REFS)) return "stashed changes";
  return `committed to ${JSON.stringify(name.replace(/^refs\/heads\//, ""))}`;
};

/** Commits that the agent left anywhere but on the source branch are kept, and said. */
const keepStrays = Effect.fnUntraced(function* (
  target: ImportTarget,
  source: string,
  tip: string,
  heads: Heads,
): Effect.fn.Return<string[], SandduneError> {
  const isBranchTip = (sha: string) =>
    [...heads].some(([name, other]) => name.startsWith("refs/heads/") && other === sha);
  const strays = [...heads].filter(
    ([name, sha]) =>
      name !== source &&
      name !== SANDBOX_UNCOMMITTED_REF &&
      (name !== "HEAD" || (sha !== tip && !isBranchTip(sha))),
  );
  // What the bundle names but does not hold cannot be kept.
  const kept = yield* Effect.filter(strays.slice(0, MAX_STRAYS), ([, sha]) =>
    Effect.map(resolveCommit(target.cwd, sha), (found) => found !== undefined),
  );
  yield* updateRefs(
    target.cwd,
    kept.map(([name, to]) => ({ ref: strayRef(target.runId, name), to })),
  );
  const dropped = strays.length - kept.length;
  return [
    ...kept.map(
      ([name]) => `The agent also ${describeStray(name)}. That is kept as ${strayRef(target.runId, name)}.`,
    ),
    ...(dropped > 0 ? [`${dropped} more branches of the agent's were left behind.`] : []),
  ];
});

/**
 * Brings what a sandbox exported into the host repository: objects are checked first, then the branch is moved by
 * compare-and-swap. Nothing the sandbox says is believed without that.
 */
export const importCommits = Effect.fnUntraced(function* (
  target: ImportTarget,
  exported: SandboxExport,
): Effect.fn.Return<ImportedCommits, SandduneError> {
  const heads: Heads =
    exported.bundlePath === undefined ? new Map() : yield* takeOver(target, exported.bundlePath);
  const source = target.branch === undefined ? "HEAD" : branchRef(target.branch);
  const strayWarnings = (tip: string) => keepStrays(target, source, tip, heads);
  const { checkpointsPath } = exported;
  const checkpoints = yield* holdCheckpoints(
    target,
    target.checkpoints ?? [],
    checkpointsPath === undefined ? Effect.succeed(new Map()) : takeOver(target, checkpointsPath),
  );
  const uncommitted = yield* holdUncommitted(target, heads.get(SANDBOX_UNCOMMITTED_REF), exported);
  const tip = yield* resolveTip(target, heads.get(source), exported);
  const moveWarnings = yield* moveBranch(target, tip).pipe(
    Effect.tapError(() => Effect.ignore(strayWarnings(tip))),
  );
  return {
    tip,
    uncommitted,
    heads: [...new Set([...heads.values(), ...checkpoints.heads])].filter((sha) => sha !== uncommitted),
    warnings: [...moveWarnings, ...(yield* strayWarnings(tip)), ...checkpoints.warnings],
  };
});
