import { rmSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import { GitError, ImportRefusedError, type SandduneError } from "../../errors.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { type GitOptions, git } from "../git.ts";
import { nulSeparated } from "../output.ts";
import {
  mountOverlay,
  type OverlayCheckout,
  overlayEnvironment,
  writeIndex,
} from "../overlay/overlayCheckout.ts";
import { copyUntrustedFile } from "../transfer/export/copyUntrustedFile.ts";
import { hasPipes } from "../worktrees/oddEntries.ts";
import { directoryState, firstChange } from "./gitState.ts";
import { displayPath } from "./notKept.ts";

/** A checkout that hooks have written to. */
export interface SetupCheckout {
  readonly path: string;
  readonly gitDirectory: string;
  readonly tip: string;
  readonly overlay: OverlayCheckout | undefined;
}

/** Where the untracked files are: in an overlay, only the upper directory has any. */
export const untrackedRoot = ({ path, overlay }: SetupCheckout): string => overlay?.layers.upperPath ?? path;

/** How git on the host finds files and index. Nothing that comes from the sandbox, which may be open, tells it. */
const openStatus = Effect.fnUntraced(function* ({
  path,
  gitDirectory,
  tip,
  overlay,
}: SetupCheckout): Effect.fn.Return<GitOptions, SandduneError, Scope.Scope> {
  const options = { cwd: path, encoding: "latin1" } as const;
  if (overlay === undefined) return options;
  const worktree = { path, gitDirectory };
  const indexPath = join(overlay.directory, "set-up-index");
  const mount = yield* mountOverlay(overlay, worktree);
  yield* writeIndex(overlay, worktree, tip, indexPath);
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(indexPath, { force: true })));
  return { ...options, mount, env: overlayEnvironment(worktree, indexPath) };
});

const listUntracked = (options: GitOptions): Effect.Effect<string[], SandduneError> =>
  git(["ls-files", "--others", "--directory", "-z"], options).pipe(
    Effect.map(({ stdout }) =>
      nulSeparated(stdout).filter((path) => path !== ".git" && path !== ".git/" && path !== "./"),
    ),
  );

/** Directories of the checkout whose files git does not list. */
const listSubmodules = (options: GitOptions): Effect.Effect<string[], SandduneError> =>
  git(["ls-files", "--stage", "-z"], options).pipe(
    Effect.map(({ stdout }) =>
      nulSeparated(stdout)
        .filter((entry) => entry.startsWith("160000 "))
        .map((entry) => entry.slice(entry.indexOf("\t") + 1)),
    ),
  );

const TRACKED = [
  "status",
  "--porcelain",
  "-z",
  "--no-renames",
  "--untracked-files=no",
  "--ignore-submodules=all",
];

/** The first tracked file that differs from the index. */
const changedFile = (options: GitOptions): Effect.Effect<string | undefined, SandduneError> =>
  git(TRACKED, options).pipe(Effect.map(({ stdout }) => nulSeparated(stdout)[0]?.slice(3)));

/** What was untracked before the hooks ran, such as copied files: it is the user's, and must not be kept. */
export interface UntrackedBefore {
  readonly paths: readonly string[];
  readonly state: ReadonlyMap<string, string>;
}

export const NONE_BEFORE: UntrackedBefore = { paths: [], state: new Map() };

/** Files of the user, and those in submodules. An empty submodule is as good as none. */
const stateOf = (
  root: string,
  paths: readonly string[],
  submodules: readonly string[],
): ReadonlyMap<string, string> => {
  const present = submodules.filter((path) => entryExists(join(root, displayPath(path))));
  const state = directoryState(root, undefined, [
    ...paths.map((path) => path.replace(/\/$/, "")),
    ...present,
  ]);
  return new Map([...state].filter(([path, kind]) => kind !== "directory" || !submodules.includes(path)));
};

/** Looks at a worktree before the hooks run. Succeeds with a sentence if its tracked files differ from the commit. */
export const inspectBefore = (
  checkout: SetupCheckout,
): Effect.Effect<UntrackedBefore | string, SandduneError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const root = untrackedRoot(checkout);
      if (yield* hasPipes(root)) return "there are named pipes in the worktree";
      const options = yield* openStatus(checkout);
      const changed = yield* changedFile(options);
      if (changed !== undefined)
        return `${displayPath(changed)} differs from the commit before the hooks run`;
      const paths = yield* listUntracked(options);
      return { paths, state: stateOf(root, paths, yield* listSubmodules(options)) };
    }),
  );

/** Of an index with ten million files. */
const MAX_INDEX_BYTES = 1024 * 1024 * 1024;

/** Why the sandbox's index does not match the commit; `undefined` if it does. A hook may have put anything in its place. */
const indexProblem = (
  sandboxIndex: string,
  { path, gitDirectory, tip }: SetupCheckout,
  options: GitOptions,
  scratch: string,
): Effect.Effect<string | undefined, SandduneError> => {
  const copy = join(scratch, "sandbox-index");
  const env = { ...options.env, GIT_DIR: gitDirectory, GIT_WORK_TREE: path, GIT_INDEX_FILE: copy };
  return interruptible(() => copyUntrustedFile(sandboxIndex, copy, MAX_INDEX_BYTES)).pipe(
    Effect.andThen(git(["diff-index", "--cached", "--name-only", "-z", tip, "--"], { ...options, env })),
    Effect.map(({ stdout }) => {
      const [first] = nulSeparated(stdout);
      return first && `a hook staged ${displayPath(first)}`;
    }),
    Effect.catchIf(
      (error) => error instanceof ImportRefusedError || error instanceof GitError,
      () => Effect.succeed("a hook left an index that git cannot read"),
    ),
    Effect.ensuring(Effect.sync(() => rmSync(copy, { force: true }))),
  );
};

/** The paths that the hooks have made, or the reason why they cannot be kept. */
export const inspectAfter = (
  checkout: SetupCheckout,
  before: UntrackedBefore,
  sandboxIndex: string,
  scratch: string,
): Effect.Effect<readonly string[] | string, SandduneError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const root = untrackedRoot(checkout);
      if (yield* hasPipes(root)) return "a hook made a named pipe in the worktree";
      const options = yield* openStatus(checkout);
      const [changed, paths, submodules, staged] = yield* Effect.all(
        [
          changedFile(options),
          listUntracked(options),
          listSubmodules(options),
          indexProblem(sandboxIndex, checkout, options, scratch),
        ],
        { concurrency: "unbounded" },
      );
      if (changed !== undefined) return `a hook changed ${displayPath(changed)}, which git tracks`;
      if (staged !== undefined) return staged;
      const touched = firstChange(before.state, stateOf(root, before.paths, submodules));
      const submodule = submodules.find((path) => `${touched}/`.startsWith(`${path}/`));
      if (submodule !== undefined) return `a hook changed files in the submodule ${displayPath(submodule)}`;
      if (touched !== undefined) return `a hook changed ${displayPath(touched)}, which was there before`;
      const known = new Set(before.paths);
      return paths.filter((path) => !known.has(path));
    }),
  );
