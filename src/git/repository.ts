import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import {
  GitError,
  InvalidOptionsError,
  NotARepositoryError,
  PrerequisiteError,
  type SandduneError,
  UnsupportedRepositoryError,
} from "../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../options/configDirectory.ts";
import { distrustCheckoutOf } from "../process/hostPrograms.ts";
import { isDirectory } from "../tools/files/entries.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { git, gitText } from "./git.ts";
import { splitTrace, TRACED } from "./trace.ts";

/** The host repository of a run, as found from `cwd`. Every path is absolute. */
export interface Repository {
  /** Top level of the checkout that `cwd` is in: the main one or a linked worktree. */
  readonly topLevel: string;
  /** Path of `cwd` below the top level: `""`, or with a slash at its end. */
  readonly prefix: string;
  /** Git directory of this checkout. */
  readonly gitDirectory: string;
  /** Git directory that all checkouts of the repository share. */
  readonly commonDirectory: string;
  /** The config directory, `.sanddune/`: one for all checkouts. */
  readonly configDirectory: string;
  readonly objectFormat: string;
}

/** The paths that a sandbox provider gets. */
export const placeIn = ({ topLevel, prefix }: Pick<Repository, "topLevel" | "prefix">) => ({
  repositoryPath: topLevel,
  cwd: join(topLevel, prefix),
});

const MINIMUM_GIT = [2, 38] as const;

/** Checked once a process. */
let gitIsNewEnough = false;

const checkVersion = (text: string): Effect.Effect<void, PrerequisiteError> => {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
  gitIsNewEnough =
    Number(major) > MINIMUM_GIT[0] || (Number(major) === MINIMUM_GIT[0] && Number(minor) >= MINIMUM_GIT[1]);
  return gitIsNewEnough
    ? Effect.void
    : Effect.fail(
        new PrerequisiteError("git", `${text} is too old`, `Install git ${MINIMUM_GIT.join(".")} or newer.`),
      );
};

/** A git before 2.22 has no trace, and is asked for its version. */
const checkTracedVersion = (cwd: string, stderr: string): Effect.Effect<void, SandduneError> => {
  if (gitIsNewEnough) return Effect.void;
  const { version } = splitTrace(stderr);
  return version === undefined
    ? Effect.flatMap(gitText(["version"], { cwd }), checkVersion)
    : checkVersion(`git version ${version}`);
};

/** The checkout that contains a directory, unless the directory is in that checkout's `.git`. */
const checkoutAround = (path: string): string | undefined => {
  if (basename(path) === ".git" || path === dirname(path)) return undefined;
  const parent = dirname(path);
  return existsSync(join(parent, ".git")) ? parent : checkoutAround(parent);
};

/** Git must not find a bare repository by itself: an agent can commit one that runs programs. */
const bareRepositoryError = (cwd: string, bare: string): UnsupportedRepositoryError => {
  const checkout = checkoutAround(bare);
  return checkout === undefined
    ? new UnsupportedRepositoryError(cwd, "is bare", "Run in a checkout of it: git worktree add ../checkout")
    : new UnsupportedRepositoryError(
        cwd,
        `is a bare one (${bare}) inside the checkout ${checkout}`,
        `An agent may have committed it: using git there would run the programs that its configuration names. See where it comes from: git -C ${shellQuote(checkout)} log -- ${shellQuote(relative(checkout, bare))}`,
      );
};

const LOCATE = [
  "rev-parse",
  "--path-format=absolute",
  "--show-toplevel",
  "--show-prefix",
  "--git-dir",
  "--git-common-dir",
  "--show-object-format",
] as const;

const locate = (cwd: string): Effect.Effect<string, SandduneError> =>
  Effect.suspend(() => git(LOCATE, { cwd, ...(!gitIsNewEnough && { env: TRACED }) })).pipe(
    Effect.tap(({ stderr }) => checkTracedVersion(cwd, stderr)),
    Effect.map(({ stdout }) => stdout),
    Effect.catchIf(
      (error): error is GitError => error instanceof GitError,
      Effect.fnUntraced(function* ({ args, exitCode, stderr }): Effect.fn.Return<never, SandduneError> {
        // An old git may fail because of its age.
        yield* checkTracedVersion(cwd, stderr);
        const { said } = splitTrace(stderr);
        if (/not a git repository/.test(said)) return yield* Effect.fail(new NotARepositoryError(cwd));
        const [, bare] = /cannot use bare repository '(.*)' \(safe\.bareRepository/.exec(said) ?? [];
        if (bare !== undefined) return yield* Effect.fail(bareRepositoryError(cwd, bare));
        if (/must be run in a work tree/.test(said)) return yield* Effect.fail(bareRepositoryError(cwd, cwd));
        return yield* Effect.fail(new GitError(args, exitCode, said));
      }),
    ),
  );

/** Checks the directory before the first program is started. */
const enter = Effect.fnUntraced(function* (cwd: string): Effect.fn.Return<string, SandduneError> {
  if (!isDirectory(cwd)) {
    return yield* Effect.fail(new InvalidOptionsError("cwd", `there is no directory ${cwd}`));
  }
  const realCwd = realpathSync(cwd);
  distrustCheckoutOf(realCwd);
  if (realCwd.includes("\n")) {
    return yield* Effect.fail(
      new UnsupportedRepositoryError(realCwd, "has a line break in its path", "Rename the directory."),
    );
  }
  return realCwd;
});

const repositoryAt = Effect.fnUntraced(function* (
  realCwd: string,
): Effect.fn.Return<Repository, SandduneError> {
  const [topLevel = "", prefix = "", gitDirectory = "", commonDirectory = "", objectFormat = ""] =
    (yield* locate(realCwd)).split("\n");
  const main = basename(commonDirectory) === ".git" ? dirname(commonDirectory) : topLevel;
  return {
    topLevel,
    prefix,
    gitDirectory,
    commonDirectory,
    configDirectory: join(main, CONFIG_DIRECTORY_NAME),
    objectFormat,
  };
});

/** Finds the repository of `cwd`. Fails if git is missing or too old, or if runs do not support the repository. */
export const openRepository = (cwd: string): Effect.Effect<Repository, SandduneError> =>
  Effect.flatMap(enter(cwd), repositoryAt);

/** Finds the repository while `beside` begins in the same directory. Its result must not be used if there is no repository. */
export const openRepositoryBeside = Effect.fnUntraced(function* <A>(
  cwd: string,
  beside: (directory: string) => Effect.Effect<A, SandduneError>,
): Effect.fn.Return<
  { readonly repository: Repository; readonly besides: Effect.Effect<A, SandduneError> },
  SandduneError
> {
  const directory = yield* enter(cwd);
  const fiber = yield* Effect.forkChild(beside(directory), { startImmediately: true });
  const repository = yield* repositoryAt(directory).pipe(Effect.onError(() => Fiber.interrupt(fiber)));
  return { repository, besides: Fiber.join(fiber) };
});
