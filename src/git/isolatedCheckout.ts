import { existsSync, lstatSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { SandboxError, type SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { shellQuote } from "../process/shellQuote.ts";
import type { IsolatedSandboxHandle } from "../sandboxes/contract.ts";
import { type ConfigEntry, renderConfig } from "./configFile.ts";
import { git } from "./git.ts";
import { branchRef } from "./refs.ts";
import type { Repository } from "./repository.ts";
import { baseRef } from "./runRefs.ts";
import { sandboxConfig } from "./sandboxConfig.ts";
import type { Worktree } from "./worktrees.ts";

export interface IsolatedCheckout {
  readonly repository: Repository;
  readonly worktree: Worktree;
  readonly targetBranch: string | undefined;
  readonly runId: string;
  readonly runDirectory: string;
  readonly hostConfig: readonly ConfigEntry[];
  readonly handle: IsolatedSandboxHandle;
}

const TRANSFER_TIMEOUT_MS = 30 * 60_000;

const copyIn = (handle: IsolatedSandboxHandle, hostPath: string, sandboxPath: string) =>
  interruptible(
    () => handle.copyIn(hostPath, sandboxPath),
    (reason) => reason as SandduneError,
  );

const execOrFail = (handle: IsolatedSandboxHandle, what: string, command: string, stdin = "") =>
  interruptible(
    (signal) => handle.exec(command, { stdin, signal, timeoutMs: TRANSFER_TIMEOUT_MS, cwd: "/" }),
    (reason) => reason as SandduneError,
  ).pipe(
    Effect.flatMap(({ exitCode, stderr }) =>
      exitCode === 0
        ? Effect.void
        : Effect.fail(new SandboxError(handle.name, `${what} failed with exit code ${exitCode}`, stderr)),
    ),
  );

/** Files of the worktree that no commit holds: untracked, ignored and modified ones. Directories end with a slash. */
const listUncommitted = (worktreePath: string): Effect.Effect<string[], SandduneError> =>
  git(
    [
      "status",
      "--porcelain",
      "-z",
      "--no-renames",
      "--untracked-files=normal",
      "--ignored=matching",
      "--ignore-submodules=all",
    ],
    { cwd: worktreePath },
  ).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .filter((entry) => entry !== "")
        .map((entry) => entry.slice(3)),
    ),
  );

const isCopyable = (path: string): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isDirectory() || stat.isSymbolicLink());
};

const bringUncommitted = Effect.fnUntraced(function* (
  handle: IsolatedSandboxHandle,
  worktreePath: string,
): Effect.fn.Return<void, SandduneError> {
  const paths = yield* listUncommitted(worktreePath);
  const removed = paths.filter(
    (path) => !existsSync(join(worktreePath, path)) && !isCopyable(join(worktreePath, path)),
  );
  const copied = paths.filter((path) => isCopyable(join(worktreePath, path)));
  yield* Effect.forEach(
    copied,
    (path) => {
      const place = path.replace(/\/$/, "");
      return copyIn(handle, join(worktreePath, place), `${handle.worktreePath}/${place}`);
    },
    { concurrency: 4 },
  );
  if (removed.length > 0) {
    const targets = removed.map((path) => shellQuote(`${handle.worktreePath}/${path}`)).join(" ");
    yield* execOrFail(handle, "removing deleted files", `rm -rf -- ${targets}`);
  }
});

/**
 * Gives an isolated sandbox the worktree: the commits as a bundle, then what no commit holds. The sandbox has full
 * history of the source and the target branch, so the agent can look at both.
 */
export const bringIntoSandbox = Effect.fnUntraced(function* (
  checkout: IsolatedCheckout,
): Effect.fn.Return<void, SandduneError> {
  const { repository, worktree, targetBranch, runDirectory, handle } = checkout;
  const bundlePath = join(runDirectory, "in.bundle");
  const configPath = join(runDirectory, "in.config");
  const targetRefs = targetBranch === undefined ? [] : [branchRef(targetBranch)];
  const refs = [branchRef(worktree.branch), baseRef(checkout.runId), ...targetRefs];
  yield* git(["bundle", "create", "--quiet", bundlePath, ...new Set(refs)], { cwd: repository.topLevel });
  yield* Effect.promise(() => writeFile(configPath, renderConfig(sandboxConfig(checkout.hostConfig))));

  const root = shellQuote(handle.worktreePath);
  const gitDirectory = `${handle.worktreePath}/.git`;
  const shallow = join(repository.commonDirectory, "shallow");
  yield* execOrFail(
    handle,
    "preparing the repository",
    `mkdir -p ${root} && git init --quiet --template= --object-format=${repository.objectFormat} ${root}`,
  );
  yield* copyIn(handle, configPath, `${gitDirectory}/config`);
  yield* copyIn(handle, bundlePath, `${gitDirectory}/sanddune-in.bundle`);
  if (existsSync(shallow)) yield* copyIn(handle, shallow, `${gitDirectory}/shallow`);
  yield* execOrFail(
    handle,
    "unpacking the repository",
    `cd ${root} || exit 1
export LC_ALL=C
git bundle unbundle .git/sanddune-in.bundle > .git/sanddune-in.refs || exit 1
grep ' refs/heads/' .git/sanddune-in.refs | while read -r sha ref; do printf 'update %s %s\\n' "$ref" "$sha"; done | git update-ref --stdin || exit 1
git symbolic-ref HEAD ${shellQuote(branchRef(worktree.branch))} || exit 1
rm -f .git/sanddune-in.bundle .git/sanddune-in.refs
git reset --quiet --hard`,
  );
  yield* bringUncommitted(handle, worktree.path);
});
