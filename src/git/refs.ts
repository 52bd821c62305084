import * as Effect from "effect/Effect";
import { GitError, HostFileError, type SandduneError } from "../errors.ts";
import { git, gitText } from "./git.ts";

export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** The commit that a revision names; `undefined` if it names none. */
export const resolveCommit = (cwd: string, name: string): Effect.Effect<string | undefined, SandduneError> =>
  gitText(["rev-parse", "--quiet", "--verify", "--end-of-options", `${name}^{commit}`], {
    cwd,
    expectedExitCodes: [1, 128],
  }).pipe(Effect.map((sha) => (sha === "" ? undefined : sha)));

export interface Ref {
  readonly name: string;
  readonly sha: string;
}

/** The refs below the prefixes, or all; without symbolic refs. */
export const listRefs = (cwd: string, ...prefixes: string[]): Effect.Effect<Ref[], SandduneError> =>
  gitText(["for-each-ref", "--format=%(objectname) %(refname) %(symref)", ...prefixes], { cwd }).pipe(
    Effect.map((output) =>
      output
        .split("\n")
        .map((line) => line.split(" "))
        .filter(([, name, target]) => name !== undefined && target === "")
        .map(([sha = "", name = ""]) => ({ name, sha })),
    ),
  );

export interface RefUpdate {
  readonly ref: string;
  /** The new object; `undefined` deletes the ref. */
  readonly to: string | undefined;
  /** The expected current object; `"absent"` if the ref must not exist, `undefined` to skip the check. */
  readonly from?: string | "absent";
}

const updateLine = ({ ref, to, from }: RefUpdate): string => {
  if (to === undefined) return from === undefined ? `delete ${ref}` : `delete ${ref} ${from}`;
  if (from === "absent") return `create ${ref} ${to}`;
  return from === undefined ? `update ${ref} ${to}` : `update ${ref} ${to} ${from}`;
};

/** Changes several refs in one transaction. */
export const updateRefs = (
  cwd: string,
  updates: readonly RefUpdate[],
  reason = "sanddune",
): Effect.Effect<void, SandduneError> =>
  updates.length === 0
    ? Effect.void
    : git(["update-ref", "-m", reason, "--no-deref", "--stdin"], {
        cwd,
        stdin: `${updates.map(updateLine).join("\n")}\n`,
      }).pipe(Effect.asVoid);

/** Whether `ancestor` is in the history of `descendant`. */
export const isAncestor = (
  cwd: string,
  ancestor: string,
  descendant: string,
): Effect.Effect<boolean, SandduneError> =>
  git(["merge-base", "--is-ancestor", ancestor, descendant], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map((result) => result.exitCode === 0),
  );

/** Whether HEAD of a checkout points to a commit rather than to a branch. */
export const isDetached = (cwd: string): Effect.Effect<boolean, SandduneError> =>
  git(["symbolic-ref", "--quiet", "HEAD"], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map((result) => result.exitCode === 1),
  );

export const isGitError = (error: SandduneError): error is GitError => error instanceof GitError;

/** Whether git itself failed, or the host's file system did. */
export const isGitFailure = (error: SandduneError): error is GitError | HostFileError =>
  isGitError(error) || error instanceof HostFileError;

/** A short reason for the failure. */
export const reasonOf = (error: GitError | HostFileError): string =>
  isGitError(error) ? error.stderr.trim() : error.message;

/** The problem if a lock file exists. Git never removes another git's lock, not even of a crashed one. */
export const lockProblem = (output: string): string | undefined => {
  const [, path] = /Unable to create '(.+\.lock)': File exists/.exec(output) ?? [];
  return path && `git's lock ${path} exists: another git is running, or has crashed`;
};
