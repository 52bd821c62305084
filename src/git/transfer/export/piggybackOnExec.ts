import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { SandboxError, SandboxUserMismatchError, type SandduneError } from "../../../errors.ts";
import { withOpenDirectory } from "../../../process/openDirectory.ts";
import type { BindMountSandboxHandle, ExecOptions, SandboxHandle } from "../../../sandboxes/contract.ts";
import { orUndefined } from "../../../tools/orUndefined.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import { SANDBOX_GIT_DIRECTORY, SANDBOX_PACKING_FILE } from "../../sandboxDirectory/sandboxGitDirectory.ts";
import type { SandboxRepository } from "../sandboxRepository.ts";
import { readUntrustedFile } from "./copyUntrustedFile.ts";
import { type ExportReport, parseReport } from "./exportReport.ts";
import { fetchBundles, type SandboxExport } from "./fetchBundles.ts";
import { BUNDLE, packingStep } from "./packScript.ts";

// In a bind-mount sandbox, two scripts piggyback on the commands that run anyway: the readiness check precedes the first
// command, and packing the new commits follows each command. Starting a command of its own in a container takes 60 to
// 100 ms, which is longer than all of git's work in both scripts.
//
// Both scripts write their result to the git directory that sandbox and host share. The agent can write there too, so a
// result only saves time and is never trusted: a sandbox counts as unused only if its git directory has no objects, and the
// refs are compared again after the sandbox has ended.

const VERDICT = "sanddune-ready";
const READY = "ready";
/** On stderr, for a sandbox that cannot write the verdict. */
const UID_MARK = "sanddune-uid:";

/**
 * Checks the sandbox in the shell of the first command, which starts only if all checks pass. The verdict goes to a file,
 * because the command may exit with any code. (`true` rather than `:`, because a shell exits when the redirection of a
 * special built-in fails.)
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

const MAX_VERDICT_BYTES = 64;

const readVerdict = (path: string): string | undefined =>
  orUndefined(() => readUntrustedFile(path, MAX_VERDICT_BYTES).toString("utf8").trim());

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
      return new SandboxError(provider, "git is not installed in it. Install git in the sandbox's image");
    case "wrong-user":
      return mismatch(lstatSync(verdictPath, { throwIfNoEntry: false })?.uid ?? -1);
    case "no-directory":
      return new SandboxError(provider, `the branch has no directory for ${cwd}`);
    case "broken-git":
      return new SandboxError(provider, "git does not work in it", stderr);
    default:
      return mismatch(Number(new RegExp(`${UID_MARK}(\\d+)`).exec(stderr)?.[1] ?? -1));
  }
};

const namesIn = (gitDirectory: string, ...steps: readonly string[]): string[] =>
  withOpenDirectory(gitDirectory, ["objects", ...steps], ({ path }) => readdirSync(path, "latin1"));

/** What is not as in a new git directory was changed by a command: that counts as objects. */
const hasObjects = (gitDirectory: string): boolean =>
  orUndefined(() =>
    namesIn(gitDirectory).some((name) =>
      namesIn(gitDirectory, name).some((inner) => `${name}/${inner}` !== "info/alternates"),
    ),
  ) ?? true;

/** A sandbox whose commands start only after the readiness check has passed. */
export interface CheckedSandbox {
  readonly handle: BindMountSandboxHandle;
  /** Whether no command has started in it, because the check failed or never finished. */
  readonly isUnused: () => boolean;
}

/** Starts no command in the sandbox before git works there and new files belong to the user on the host. */
export const withReadinessCheck = (
  handle: BindMountSandboxHandle,
  provider: string,
  hostGitDirectory: string,
): CheckedSandbox => {
  let isReady = false;
  /** Several first commands may start at the same time: each has a verdict of its own. */
  const verdictPaths: string[] = [];
  // The agent can overwrite a verdict. Its commits are objects in the git directory, so none of them is overlooked.
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
    // The check compares the owner of the git directory with the user that runs it, who must not be root.
    const { signal, timeoutMs } = options;
    await checkedExec("true", {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    return handle.exec(command, options);
  };
  const { interactiveExec, snapshot } = handle;
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
      ...(snapshot && { snapshot: (options) => snapshot(options) }),
      close: () => handle.close(),
    },
  };
};

const REPORT_FILE = "sanddune-export.report";
const MAX_REPORT_BYTES = 64 * 1024;
/** Files of an earlier command can block git for ever. After this time the host exports with a command of its own. */
const PACK_SECONDS = 20;
/** The rest is packed again, which only takes time. */
const MAX_LATER_COMMITS = 500;

/**
 * A file that the agent has made impossible to remove cannot be overwritten by the script either. Directories stay: while
 * Node.js empties one, the agent could replace a directory in it by a link to the user's files.
 */
const removeFiles = (hostGitDirectory: string, ...names: readonly string[]): void => {
  for (const name of names) {
    try {
      unlinkSync(join(hostGitDirectory, name));
    } catch {}
  }
};

const packingScript = (
  { gitDirectory }: SandboxRepository,
  laterCommits: readonly string[],
  command: string,
): string => `sh -c -- ${shellQuote(command)}
_sanddune_code=$?
${packingStep({
  path: SANDBOX_PACKING_FILE,
  reportPath: `${gitDirectory}/${REPORT_FILE}`,
  laterCommits: laterCommits.slice(-MAX_LATER_COMMITS),
  limitSeconds: PACK_SECONDS,
})}
exit $_sanddune_code`;

/**
 * Packs all new commits after each command, except for those that the host has imported since the sandbox was created. A sandbox that does
 * not share its git directory keeps its own handle.
 */
export const withPacking = (
  sandbox: SandboxRepository,
  laterCommits: () => readonly string[],
): SandboxHandle => {
  const { handle, hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return handle;
  return {
    name: handle.name,
    worktreePath: handle.worktreePath,
    exec: (command, options) => {
      // The script would have to start a program to remove the former bundle.
      removeFiles(hostGitDirectory, REPORT_FILE, BUNDLE);
      return handle.exec(packingScript(sandbox, laterCommits(), command), options);
    },
    copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
    close: () => handle.close(),
  };
};

const takeReport = (hostGitDirectory: string): ExportReport | undefined => {
  const path = join(hostGitDirectory, REPORT_FILE);
  const report = orUndefined(() => parseReport(readUntrustedFile(path, MAX_REPORT_BYTES).toString("utf8")));
  removeFiles(hostGitDirectory, REPORT_FILE);
  return report;
};

/**
 * The export that the last command has packed; `undefined` if it was interrupted before, or if its report is not in
 * order: then the host has to export with a command of its own.
 */
export const takePackedExport = Effect.fnUntraced(function* (
  sandbox: SandboxRepository,
  hostPath: string,
): Effect.fn.Return<SandboxExport | undefined, SandduneError> {
  const { hostGitDirectory } = sandbox;
  if (hostGitDirectory === undefined) return undefined;
  const report = takeReport(hostGitDirectory);
  if (report === undefined || report.source === "broken") return undefined;
  return yield* fetchBundles(sandbox, report, hostPath);
});
