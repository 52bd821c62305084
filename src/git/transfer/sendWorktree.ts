import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxError, type SandduneError } from "../../errors.ts";
import type { IsolatedSandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { type ConfigEntry, renderConfig } from "../configFile.ts";
import { git } from "../git.ts";
import { branchRef, updateRefs } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { baseRef } from "../runRefs.ts";
import { hostExcludes } from "../sandboxDirectory/hostExcludes.ts";
import { sandboxConfig } from "../sandboxDirectory/sandboxConfig.ts";
import { STATUS } from "../worktrees/worktreeStatus.ts";
import type { GitWorktree } from "../worktrees/worktrees.ts";
import { SENT_BUNDLE } from "./bundle/keptBundles.ts";
import { readBundle } from "./bundle/readBundle.ts";

export interface WorktreeToSend {
  readonly repository: Repository;
  readonly worktree: GitWorktree;
  readonly targetBranch: string | undefined;
  readonly runId: string;
  readonly filesDirectory: string;
  readonly hostConfig: readonly ConfigEntry[];
  readonly handle: IsolatedSandboxHandle;
  /** A commit of the uncommitted work in the worktree, if any. */
  readonly uncommitted: string | undefined;
}

/** The result of sending a worktree to an isolated sandbox. */
export interface SentWorktree {
  /** The tips of the history in the sandbox. */
  readonly commits: readonly string[];
  /** Sentences about files that were not sent. */
  readonly warnings: readonly string[];
}

const TRANSFER_TIMEOUT_MS = 30 * 60_000;

const copyIn = (handle: IsolatedSandboxHandle, hostPath: string, sandboxPath: string) =>
  interruptible(() => handle.copyIn(hostPath, sandboxPath));

const execOrFail = (handle: IsolatedSandboxHandle, what: string, command: string, stdin = "") =>
  interruptible((signal) =>
    handle.exec(command, { stdin, signal, timeoutMs: TRANSFER_TIMEOUT_MS, cwd: "/" }),
  ).pipe(
    Effect.flatMap(({ exitCode, stderr }) =>
      exitCode === 0
        ? Effect.void
        : Effect.fail(new SandboxError(handle.name, `${what} failed with exit code ${exitCode}`, stderr)),
    ),
  );

/** The names of ignored files, as bytes. Directories have a slash at the end. */
const listIgnored = (worktreePath: string): Effect.Effect<Buffer[], SandduneError> =>
  git([...STATUS, "--ignored=matching"], { cwd: worktreePath, encoding: "latin1" }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0")
        .filter((entry) => entry.startsWith("!! "))
        .map((entry) => Buffer.from(entry.slice(3), "latin1")),
    ),
  );

/** Copies ignored files, e.g. dependencies. Resolves with sentences about files that were not sent. */
const sendIgnoredFiles = Effect.fnUntraced(function* (
  handle: IsolatedSandboxHandle,
  worktreePath: string,
): Effect.fn.Return<string[], SandduneError> {
  const names = (yield* listIgnored(worktreePath)).map((bytes) => ({ bytes, text: bytes.toString("utf8") }));
  const isText = ({ bytes, text }: { bytes: Buffer; text: string }) => Buffer.from(text).equals(bytes);
  yield* Effect.forEach(
    names.filter(isText),
    ({ text }) => {
      const place = text.replace(/\/$/, "");
      return copyIn(handle, join(worktreePath, place), `${handle.worktreePath}/${place}`);
    },
    { concurrency: 4 },
  );
  return names
    .filter((name) => !isText(name))
    .map(
      ({ text }) =>
        `The ignored file ${JSON.stringify(text)} was not copied into the sandbox: its name is not UTF-8.`,
    );
});

/**
 * Sends the worktree to an isolated sandbox: the commits as a bundle, then uncommitted and ignored files. The sandbox
 * has the full history of the source and the target branch, so the agent can read both.
 */
export const sendWorktree = Effect.fnUntraced(function* (
  checkout: WorktreeToSend,
): Effect.fn.Return<SentWorktree, SandduneError> {
  const { repository, worktree, targetBranch, filesDirectory, handle, uncommitted } = checkout;
  const bundlePath = join(filesDirectory, SENT_BUNDLE);
  const configPath = join(filesDirectory, "in.config");
  const excludesPath = join(filesDirectory, "in.exclude");
  const targetRefs = targetBranch === undefined ? [] : [branchRef(targetBranch)];
  const refs = [branchRef(worktree.branch), baseRef(checkout.runId), ...targetRefs];
  if (uncommitted !== undefined) {
    yield* updateRefs(repository.topLevel, [{ ref: baseRef(checkout.runId), to: uncommitted }]);
  }
  yield* git(["bundle", "create", "--quiet", bundlePath, ...new Set(refs)], { cwd: repository.topLevel });
  writeFileSync(configPath, renderConfig(sandboxConfig(checkout.hostConfig)));
  writeFileSync(excludesPath, hostExcludes(repository, checkout.hostConfig));

  const root = shellQuote(handle.worktreePath);
  const gitDirectory = `${handle.worktreePath}/.git`;
  const shallow = join(repository.commonDirectory, "shallow");
  yield* execOrFail(
    handle,
    "preparing the repository",
    `mkdir -p ${root} && git init --quiet --template= --object-format=${repository.objectFormat} ${root}`,
  );
  yield* copyIn(handle, configPath, `${gitDirectory}/config`);
  yield* copyIn(handle, excludesPath, `${gitDirectory}/info/exclude`);
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
git reset --quiet --hard || exit 1
${uncommitted === undefined ? "" : `git read-tree -m -u HEAD ${uncommitted} && git reset --quiet || exit 1`}
[ -d ${shellQuote(`./${repository.prefix}`)} ] || { echo ${shellQuote(`The branch has no directory ${repository.prefix}`)} >&2; exit 1; }`,
  );
  const { heads } = yield* attempt(() => readBundle(bundlePath));
  return { commits: [...new Set(heads.values())], warnings: yield* sendIgnoredFiles(handle, worktree.path) };
});
