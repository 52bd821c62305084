import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
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

const checkGitVersion = (cwd: string): Effect.Effect<void, SandduneError> =>
  gitIsNewEnough ? Effect.void : askGitVersion(cwd);

const askGitVersion = (cwd: string) =>
  gitText(["version"], { cwd }).pipe(
    Effect.flatMap((text) => {
      const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
      const isNewEnough =
        Number(major) > MINIMUM_GIT[0] ||
        (Number(major) === MINIMUM_GIT[0] && Number(minor) >= MINIMUM_GIT[1]);
      gitIsNewEnough = isNewEnough;
      return isNewEnough
        ? Effect.void
        : Effect.fail(
            new PrerequisiteError(
              "git",
              `${text} is too old`,
              `Install git ${MINIMUM_GIT.join(".")} or newer.`,
            ),
          );
    }),
  );

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

const locate = (cwd: string) =>
  git(
    [
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--show-prefix",
      "--git-dir",
      "--git-common-dir",
      "--show-object-format",
    ],
    { cwd },
  ).pipe(
    Effect.catchIf(
      (error): error is GitError => error instanceof GitError,
      (error): Effect.Effect<never, SandduneError> => {
        if (/not a git repository/.test(error.stderr)) return Effect.fail(new NotARepositoryError(cwd));
        const [, bare] = /cannot use bare repository '(.*)' \(safe\.bareRepository/.exec(error.stderr) ?? [];
        if (bare !== undefined) return Effect.fail(bareRepositoryError(cwd, bare));
        if (/must be run in a work tree/.test(error.stderr))
          return Effect.fail(bareRepositoryError(cwd, cwd));
        return Effect.fail(error);
      },
    ),
  );

/** Finds the repository of `cwd`. Fails if git is missing or too old, or if runs do not support the repository. */
export const openRepository = Effect.fnUntraced(function* (
  cwd: string,
): Effect.fn.Return<Repository, SandduneError> {
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
  const [located] = yield* Effect.all([locate(realCwd), checkGitVersion(realCwd)], {
    concurrency: "unbounded",
  });
  const [topLevel = "", prefix = "", gitDirectory = "", commonDirectory = "", objectFormat = ""] =
    located.stdout.split("\n");
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
