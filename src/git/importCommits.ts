import * as Effect from "effect/Effect";
import { BranchMovedError, ImportRefusedError, type SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { branchNameProblem } from "./branchName.ts";
import { type Bundle, packOf, readBundle } from "./bundle.ts";
import type { SandboxExport } from "./exportFromSandbox.ts";
import { git } from "./git.ts";
import { branchRef, isAncestor, isGitError, resolveCommit, updateRefs } from "./refs.ts";
import { beforeRewriteRef, landingRef, UNCOMMITTED_REF } from "./runRefs.ts";

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
}

export interface ImportedCommits {
  readonly tip: string;
  /** A commit on top of the tip that holds the uncommitted work of an isolated sandbox. */
  readonly uncommitted: string | undefined;
  /** Refs of the run's own that this import has made, with what they point to. */
  readonly landed: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Refs of the sandbox, by name. */
interface OfferedRefs {
  readonly usable: ReadonlyMap<string, string>;
  readonly leftBehind: readonly string[];
}

const isUsableName = (name: string): boolean =>
  name.startsWith("refs/heads/") && branchNameProblem(name.slice("refs/heads/".length)) === undefined;

/** Branches besides the source branch that are kept; more than anyone would look at stay behind. */
const MAX_OTHER_BRANCHES = 50;

const offeredRefs = (source: string, heads: ReadonlyMap<string, string>): OfferedRefs => {
  const isNeeded = (name: string) => [source, "HEAD", UNCOMMITTED_REF].includes(name);
  const others = [...heads].filter(([name]) => !isNeeded(name));
  const kept = others.filter(([name]) => isUsableName(name)).slice(0, MAX_OTHER_BRANCHES);
  return {
    usable: new Map([...[...heads].filter(([name]) => isNeeded(name)), ...kept]),
    leftBehind: others.map(([name]) => name).filter((name) => !kept.some(([other]) => other === name)),
  };
};

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

/** Stores what the bundle holds, under refs that nothing else uses. */
const land = Effect.fnUntraced(function* (
  target: ImportTarget,
  source: string,
  bundlePath: string,
): Effect.fn.Return<OfferedRefs, SandduneError> {
  const bundle = yield* interruptible(
    () => readBundle(bundlePath),
    (reason) => reason as SandduneError,
  );
  if (bundle.prerequisites.length === 0) {
    return yield* Effect.fail(
      new ImportRefusedError("they do not build on any commit of this repository", bundlePath),
    );
  }
  const offered = offeredRefs(source, bundle.heads);
  yield* storeObjects(target.cwd, bundle);
  yield* updateRefs(
    target.cwd,
    [...offered.usable].map(([name, to]) => ({ ref: landingRef(target.runId, name), to })),
  ).pipe(
    Effect.mapError((error) =>
      isGitError(error)
        ? new ImportRefusedError("the bundle names commits that it does not hold", bundlePath, error.stderr)
        : error,
    ),
  );
  return offered;
});

const sharesHistory = (cwd: string, one: string, other: string): Effect.Effect<boolean, SandduneError> =>
  git(["merge-base", one, other], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map((result) => result.exitCode === 0),
  );

/** Moves the branch if it still is where the run left it; otherwise the commits stay under the run's own refs. */
const moveBranch = Effect.fnUntraced(function* (
  target: ImportTarget,
  tip: string,
  keptRef: string,
): Effect.fn.Return<string[], SandduneError> {
  const { cwd, branch, base, expectedTip, runId } = target;
  const shownBranch = branch ?? "HEAD";
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
  const backup = beforeRewriteRef(runId);
  const updates = [
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

/** Commits that the agent left anywhere but on the source branch are kept, and said. */
const strayWarnings = (target: ImportTarget, source: string, tip: string, offered: OfferedRefs): string[] => {
  const { usable, leftBehind } = offered;
  const branches = [...usable].filter(([name]) => name.startsWith("refs/heads/") && name !== source);
  const head = usable.get("HEAD");
  const headIsElsewhere = head !== undefined && head !== tip && !branches.some(([, sha]) => sha === head);
  return [
    ...branches.map(
      ([name]) =>
        `The agent also committed to ${name.replace(/^refs\/heads\//, "")}. Those commits are kept as ${landingRef(target.runId, name)}.`,
    ),
    ...(headIsElsewhere
      ? [
          `The agent also committed to a detached HEAD. Those commits are kept as ${landingRef(target.runId, "HEAD")}.`,
        ]
      : []),
    ...(leftBehind.length > 0
      ? [
          `${leftBehind.length} more branches of the agent's were left behind, ${JSON.stringify(leftBehind[0])} among them.`,
        ]
      : []),
  ];
};

/** Where the source branch shall be. A commit that the sandbox names must be here: handed over, or known before. */
const resolveTip = Effect.fnUntraced(function* (
  target: ImportTarget,
  landedTip: string | undefined,
  exported: SandboxExport,
): Effect.fn.Return<string, SandduneError> {
  const tip = landedTip ?? exported.tip ?? target.expectedTip;
  if (tip === landedTip || tip === target.expectedTip) return tip;
  if ((yield* resolveCommit(target.cwd, tip)) === undefined) {
    return yield* Effect.fail(
      new ImportRefusedError(
        `the sandbox names the commit ${tip} but did not hand it over`,
        exported.bundlePath,
      ),
    );
  }
  return tip;
});

/**
 * Brings what a sandbox exported into the host repository: objects are checked first, then the branch is moved by
 * compare-and-swap. Nothing the sandbox says is believed without that.
 */
export const importCommits = Effect.fnUntraced(function* (
  target: ImportTarget,
  exported: SandboxExport,
): Effect.fn.Return<ImportedCommits, SandduneError> {
  const { bundlePath } = exported;
  const source = target.branch === undefined ? "HEAD" : branchRef(target.branch);
  const offered: OfferedRefs =
    bundlePath === undefined
      ? { usable: new Map(), leftBehind: [] }
      : yield* land(target, source, bundlePath);
  const tip = yield* resolveTip(target, offered.usable.get(source), exported);
  const rewriteWarnings =
    tip === target.expectedTip ? [] : yield* moveBranch(target, tip, landingRef(target.runId, source));
  return {
    tip,
    uncommitted: offered.usable.get(UNCOMMITTED_REF),
    landed: new Map([...offered.usable].map(([name, sha]) => [landingRef(target.runId, name), sha])),
    warnings: [...rewriteWarnings, ...strayWarnings(target, source, tip, offered)],
  };
});
