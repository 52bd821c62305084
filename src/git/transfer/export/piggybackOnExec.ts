import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { SandboxError, SandboxUserMismatchError, type SandduneError } from "../../../errors.ts";
import type { BindMountSandboxHandle, ExecOptions, SandboxHandle } from "../../../sandboxes/contract.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import { SANDBOX_GIT_DIRECTORY } from "../../sandboxDirectory/sandboxGitDirectory.ts";
import type { SandboxRepository } from "../sandboxRepository.ts";
import { copyUntrustedFile } from "./copyUntrustedFile.ts";
import { fetchBundles, type SandboxExport } from "./exportFromSandbox.ts";
import { type ExportReport, parseReport } from "./exportReport.ts";
import { exclusions, KNOWN_COMMITS_FILE, packScript } from "./packScript.ts";

// Two things ride on commands that run in a bind-mount sandbox anyway: the check that the sandbox is fit for its first
// command, and packing the commits after each. To start another command in a container takes 60 to 100 ms, which is longer
// than all of git's work in both. Their answers are left in the git directory that sandbox and host share. The agent can
// write there, so that an answer is a shortcut and never the last word: what proves that a command has run is objects, and
// the refs are compared once more when the sandbox has ended.

const VERDICT = "sanddune-ready";
const READY = "ready";
/** Where no verdict can be written, the user is told on stderr. */
const UID_MARK = "sanddune-uid:";

/**
 * Runs ahead of the first command in a sandbox, in the same shell, and lets it begin only if everything is as it must
 * be. The verdict goes to a file that the host can see, so that no exit code of the command's can be mistaken for it.
 * (`true` rather than `:`, because a shell ends when a special built-in cannot be redirected.)
 */
const readinessScript = (verdictName: string, cwd: string, command: string): string => {
  const verdict = `${SANDBOX_GIT_DIRECTORY}/${verdictName}`;
  return `_sanddune_verdict() { printf '%s\\n' "$1" > ${verdict}; exit 1; }
true > ${verdict} || { printf '${UID_MARK}%s\\n' "$(id -u)" >&2; exit 1; }
command -v git >/dev/null || _sanddune_verdict no-git
[ -O ${SANDBOX_GIT_DIRECTORY} ] || _sanddune_verdict wrong-user
git rev-parse --verify --quiet HEAD >/dev/null || _sanddune_verdict broken-git
cd -- ${shellQuote(cwd)} 2>/dev/null || _sanddune_verdict no-directory
printf '%s\\n' ${READY} > ${verdict}
unset -f _sanddune_verdict
${command}`;
};

const readVerdict = (path: string): string | undefined => {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8").trim() : undefined;
};

const failureOf = (
  provider: string,
  verdictPath: string,
  cwd: string,
  stderr: string,
): SandboxError | SandboxUserMismatchError | undefined => {
  const mismatch = (actualUid: number) =>
    new SandboxUserMismatchError(
      provider,
      process.getuid?.() ?? -1,
      actualUid,
      "Let the sandbox run as your own user: leave the `user` option out, or set it to your uid and gid.",
    );
  switch (readVerdict(verdictPath)) {
    case READY:
      return undefined;
    case "no-git":
      return new SandboxError(provider, "there is no git in it. Install git in the sandbox's image");
    case "wrong-user":
      return mismatch(lstatSync(verdictPath).uid);
    case "no-directory":
      return new SandboxError(provider, `the branch has no directory for ${cwd}`);
    case "broken-git":
      return new SandboxError(provider, "git does not work in it", stderr);
    default:
      return mismatch(Number(new RegExp(`${UID_MARK}(\\d+)`).exec(stderr)?.[1] ?? -1));
  }
};

/** What cannot be listed any more was changed by somebody: that counts as objects. */
const hasObjects = (gitDirectory: string): boolean => {
  try {
    return readdirSync(join(gitDirectory, "objects"), { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && entry.name !== "alternates",
    );
  } catch {
    return true;
  }
};

/** A sandbox in which nothing runs before it is known to be fit for it. */
export interface CheckedSandbox {
  readonly handle: BindMountSandboxHandle;
  /** Whether no command has begun in it, because the check failed or never came to an end. */
  readonly isUnused: () => boolean;
}

/**
 * Lets nothing run in the sandbox before it is known that git works there and that the files made there will belong to
 * the host's user. The check is part of the first command, because starting a command is what takes time.
 */
export const withReadinessCheck = (
  handle: BindMountSandboxHandle,
  provider: string,
  hostGitDirectory: string,
): CheckedSandbox => {
  let isReady = false;
  /** Commands may begin side by side: each of the first ones has a verdict of its own. */
  const verdictPaths: string[] = [];
  // The verdicts are in a place that the agent can write to; objects in its git directory prove that it has run.
  const isUnused = () =>
    !isReady && verdictPaths.every((path) => readVerdict(path) !== READY) && !hasObjects(hostGitDirectory);
  const checkedExec = async (command: string, options: ExecOptions) => {
    const cwd = options.cwd ?? handle.worktreePath;
    const verdictName = `${VERDICT}-${verdictPaths.length}`;
    const verdictPath = join(hostGitDirectory, verdictName);
    verdictPaths.push(verdictPath);
    const result = await handle.exec(readinessScript(verdictName, cwd, command), {
      ...options,
      cwd: handle.worktreePath,
    });
    const failure = failureOf(provider, verdictPath, cwd, result.stderr);
    if (failure !== undefined && isUnused()) throw failure;
    isReady = true;
    return result;
  };
  const exec = async (command: string, options: ExecOptions) => {
    if (isReady) return handle.exec(command, options);
    if (!options.sudo) return checkedExec(command, options);
    // As root, everything would look like somebody else's.
    const { signal, timeoutMs } = options;
    await checkedExec("true", {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return handle.exec(command, options);
  };
  const { interactiveExec } = handle;
  return {
    isUnused,
    handle: {
      name: handle.name,
      worktreePath: handle.worktreePath,
      exec: (command, options = {}) => exec(command, options),
      ...(interactiveExec && {
        interactiveExec: async (command, options) => {
          if (!isReady) await checkedExec("true", options?.signal ? { signal: options.signal } : {});
          return interactiveExec(command, options);
        },
      }),
      copyFileIn: (hostPath, sandboxPath) => handle.copyFileIn(hostPath, sandboxPath),
      copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
      close: () => handle.close(),
    },
  };
};

const REPORT_FILE = "sanddune-export.report";
const MAX_REPORT_BYTES = 64 * 1024;
/** What a former command has left in the repository may keep git waiting for ever: then the host tries by itself. */
const PACK_SECONDS = 20;
/** Imported since the sandbox was made; what is left out is packed again, which costs time only. */
const MAX_LATER_COMMITS = 500;

/** What commands are to pack when they are over. */
export interface PackRequest {
  /** `undefined`: a detached HEAD. */
  readonly sourceBranch: string | undefined;
  /** What the host has got since the sandbox was made. */
  readonly laterCommits: readonly string[];
}

/** The agent may have made something of it that cannot be removed; then the report cannot be written either. */
const forgetReport = (hostGitDirectory: string): void => {
  try {
    rmSync(join(hostGitDirectory, REPORT_FILE), { recursive: true, force: true });
  } catch {}
};

const packingScript = (
  sandbox: SandboxRepository,
  { sourceBranch, laterCommits }: PackRequest,
  command: string,
): string => `sh -c -- ${shellQuote(command)}
_sanddune_code=$?
_sanddune_known=${sandbox.gitDirectory}/${KNOWN_COMMITS_FILE}
_sanddune_limit=
if command -v timeout >/dev/null; then _sanddune_limit="timeout -s KILL ${PACK_SECONDS}"; fi
[ ! -f "$_sanddune_known" ] || {
  cat "$_sanddune_known" - <<'END'
${exclusions(laterCommits.slice(-MAX_LATER_COMMITS))}END
} | $_sanddune_limit sh -c -- ${shellQuote(packScript(sandbox, { sourceBranch }))} >${sandbox.gitDirectory}/${REPORT_FILE} 2>/dev/null
exit $_sanddune_code`;

/**
 * A handle whose commands pack everything new when they are over. Where the sandbox does not share its git directory
 * with the host, it is the handle as it was.
 */
export const withPacking = (sandbox: SandboxRepository, request: () => PackRequest): SandboxHandle => {
  const { handle, hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return handle;
  return {
    name: handle.name,
    worktreePath: handle.worktreePath,
    exec: (command, options) => {
      forgetReport(hostGitDirectory);
      return handle.exec(packingScript(sandbox, request(), command), options);
    },
    copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
    close: () => handle.close(),
  };
};

const takeReport = async (hostGitDirectory: string, hostPath: string): Promise<ExportReport | undefined> => {
  const draft = `${hostPath}.report`;
  try {
    await copyUntrustedFile(join(hostGitDirectory, REPORT_FILE), draft, MAX_REPORT_BYTES);
    return parseReport(await readFile(draft, "utf8"));
  } catch {
    return undefined;
  } finally {
    await rm(draft, { force: true });
    forgetReport(hostGitDirectory);
  }
};

/**
 * What a command of an `withPacking` has packed; `undefined` if it did not come that far, or if the report says that
 * something is wrong: that is for a command of the host's own to find out.
 */
export const takePackedExport = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  hostPath: string,
): Effect.fn.Return<SandboxExport | undefined, SandduneError> {
  const { hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return undefined;
  const report = yield* Effect.promise(() => takeReport(hostGitDirectory, hostPath));
  if (report === undefined || report.source === "broken") return undefined;
  return yield* fetchBundles(sandbox, report, hostPath);
});
