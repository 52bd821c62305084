import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError, SandboxUserMismatchError } from "../errors.ts";
import { SANDBOX_GIT_DIRECTORY } from "../git/sandboxGitDirectory.ts";
import { shellQuote } from "../process/shellQuote.ts";
import type { BindMountSandboxHandle, ExecOptions } from "../sandboxes/contract.ts";

const VERDICT = "sanddune-ready";
const READY = "ready";
/** Where no verdict can be written, the user is told on stderr. */
const UID_MARK = "sanddune-uid:";

/**
 * Runs ahead of the first command in a sandbox, in the same shell, and lets it begin only if everything is as it must
 * be. The verdict goes to a file that the host can see, so that no exit code of the command's can be mistaken for it.
 * (`true` rather than `:`, because a shell ends when a special built-in cannot be redirected.)
 */
const readinessScript = (cwd: string, command: string): string => {
  const verdict = `${SANDBOX_GIT_DIRECTORY}/${VERDICT}`;
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

const readVerdict = (hostGitDirectory: string): string | undefined => {
  const path = join(hostGitDirectory, VERDICT);
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8").trim() : undefined;
};

const failureOf = (
  provider: string,
  hostGitDirectory: string,
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
  switch (readVerdict(hostGitDirectory)) {
    case READY:
      return undefined;
    case "no-git":
      return new SandboxError(provider, "there is no git in it. Install git in the sandbox's image");
    case "wrong-user":
      return mismatch(lstatSync(join(hostGitDirectory, VERDICT)).uid);
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
  // The verdict is in a place that the agent can write to; objects in its git directory prove that it has run.
  const isUnused = () => !isReady && readVerdict(hostGitDirectory) !== READY && !hasObjects(hostGitDirectory);
  const firstExec = async (command: string, options: ExecOptions) => {
    const cwd = options.cwd ?? handle.worktreePath;
    const result = await handle.exec(readinessScript(cwd, command), { ...options, cwd: handle.worktreePath });
    const failure = failureOf(provider, hostGitDirectory, cwd, result.stderr);
    if (failure !== undefined && isUnused()) throw failure;
    isReady = true;
    return result;
  };
  return {
    isUnused,
    handle: {
      name: handle.name,
      worktreePath: handle.worktreePath,
      exec: (command, options = {}) =>
        isReady ? handle.exec(command, options) : firstExec(command, options),
      copyFileIn: (hostPath, sandboxPath) => handle.copyFileIn(hostPath, sandboxPath),
      copyFileOut: (sandboxPath, hostPath) => handle.copyFileOut(sandboxPath, hostPath),
      close: () => handle.close(),
    },
  };
};
