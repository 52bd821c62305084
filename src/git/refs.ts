import * as Effect from "effect/Effect";
import { GitError, HostFileError, ProcessTimeoutError, type SandduneError } from "../errors.ts";
import type { ConfigEntry } from "./configFile.ts";
import { git, gitText, LAST_HARDENED_KEY } from "./git.ts";
import { SharedGit } from "./longLived/sharedGit.ts";
import { TRACED_WITH_CONFIG, tracedConfig } from "./trace.ts";

export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** The commit that a revision names; `undefined` if it names none. */
export const resolveCommit = Effect.fnUntraced(function* (
  cwd: string,
  name: string,
): Effect.fn.Return<string | undefined, SandduneError> {
  const commit = `${name}^{commit}`;
  const shared = yield* SharedGit;
  // A reader's questions are lines.
  if (shared?.canRead(cwd) && !/[\r\n\0]/.test(name)) {
    return (yield* shared.read((reader) => reader.info(commit)))?.sha;
  }
  const sha = yield* gitText(["rev-parse", "--quiet", "--verify", "--end-of-options", commit], {
    cwd,
    expectedExitCodes: [1, 128],
  });
  return sha === "" ? undefined : sha;
});

export interface Ref {
  readonly name: string;
  readonly sha: string;
}

interface ListedRef extends Ref {
  /** The ref that a symbolic ref points to; otherwise empty. */
  readonly target: string;
  /** HEAD leads to it. */
  readonly isCheckedOut: boolean;
}

const REF_FORMAT = "--format=%(HEAD)%(objectname) %(refname) %(symref)";

const parseRefs = (output: string): ListedRef[] =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [sha = "", name = "", target = ""] = line.slice(1).split(" ");
      return { name, sha, target, isCheckedOut: line.startsWith("*") };
    });

const withoutSymbolic = (refs: readonly ListedRef[]): Ref[] =>
  refs.filter(({ target }) => target === "").map(({ name, sha }) => ({ name, sha }));

/** The refs below the prefixes, or all; without symbolic refs. */
export const listRefs = (cwd: string, ...prefixes: string[]): Effect.Effect<Ref[], SandduneError> =>
  gitText(["for-each-ref", REF_FORMAT, ...prefixes], { cwd }).pipe(
    Effect.map((output) => withoutSymbolic(parseRefs(output))),
  );

/** The facts that one `git for-each-ref` can tell. */
export interface RefsWithConfig {
  readonly refs: Ref[];
  /** The branch that is checked out; `undefined` if there is none, or none with a commit. */
  readonly head: Ref | undefined;
  /** Git's configuration; `undefined` if git has to be asked for it. */
  readonly config: ConfigEntry[] | undefined;
}

/** The refs below the prefixes, with the branch that is checked out, and with the configuration. */
export const listRefsWithConfig = (
  cwd: string,
  ...prefixes: string[]
): Effect.Effect<RefsWithConfig, SandduneError> =>
  git(["for-each-ref", REF_FORMAT, ...prefixes], { cwd, env: TRACED_WITH_CONFIG }).pipe(
    // No error may quote the trace, which has passwords.
    Effect.mapError((error) =>
      error instanceof ProcessTimeoutError
        ? new ProcessTimeoutError(error.program, error.timeoutMs, "", "")
        : error,
    ),
    // Some versions of git crash while they trace a setting without a value.
    Effect.catchIf(isGitFailure, () => git(["for-each-ref", REF_FORMAT, ...prefixes], { cwd })),
    Effect.map(({ stdout, stderr }) => {
      const listed = parseRefs(stdout);
      const head = listed.find(({ isCheckedOut }) => isCheckedOut);
      return {
        refs: withoutSymbolic(listed),
        head: head && { name: head.name, sha: head.sha },
        config: tracedConfig(stderr, LAST_HARDENED_KEY),
      };
    }),
  );

export interface RefUpdate {
  readonly ref: string;
  /** The new object; `undefined` deletes the ref. */
  readonly to: string | undefined;
  /** The expected current object; `"absent"` if the ref must not exist, `undefined` to skip the check. */
  readonly from?: string | "absent";
}

/** The reason for changes of a session, in the reflogs of branches. */
export const sessionReason = (runId: string): string => `sanddune: run ${runId}`;

const updateLine = ({ ref, to, from }: RefUpdate): string => {
  if (to === undefined) return from === undefined ? `delete ${ref}` : `delete ${ref} ${from}`;
  if (from === "absent") return `create ${ref} ${to}`;
  return from === undefined ? `update ${ref} ${to}` : `update ${ref} ${to} ${from}`;
};

/** Changes several refs in one transaction. The reason is for the reflogs of branches. */
export const updateRefs = Effect.fnUntraced(function* (
  cwd: string,
  updates: readonly RefUpdate[],
  reason?: string,
): Effect.fn.Return<void, SandduneError> {
  if (updates.length === 0) return;
  const commands = updates.map(updateLine);
  const shared = yield* SharedGit;
  // Not final: the git that has been running may have been killed, or may not have seen that a ref is gone.
  const ownChange = shared?.tryUpdateRefs(cwd, commands, reason) ?? Effect.succeed(false);
  if (yield* Effect.catchIf(ownChange, isGitError, () => Effect.succeed(false))) return;
  yield* git(["update-ref", "-m", reason ?? "sanddune", "--no-deref", "--stdin"], {
    cwd,
    stdin: `${commands.join("\n")}\n`,
  });
});

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
