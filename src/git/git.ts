import { existsSync } from "node:fs";
import * as Effect from "effect/Effect";
import * as Schedule from "effect/Schedule";
import { writeErrorIn } from "../boundary/hostFileErrors.ts";
import { interruptible } from "../boundary/interruptible.ts";
import {
  GitError,
  HostFileError,
  PrerequisiteError,
  ProcessStartError,
  type SandduneError,
} from "../errors.ts";
import { hostPath } from "../process/hostPrograms.ts";
import { openOutputFile } from "../process/outputFile.ts";
import type { OverlayMount } from "../process/overlay/overlayMount.ts";
import {
  type ProcessInput,
  type ProcessResult,
  type ProcessSpec,
  runProcess,
} from "../process/runProcess.ts";

export interface GitOptions {
  readonly cwd: string;
  readonly stdin?: ProcessInput;
  /** Added to the environment, e.g. an identity. */
  readonly env?: Readonly<Record<string, string>>;
  /** `latin1` for file names: they can hold any bytes. */
  readonly encoding?: "latin1";
  /** Exit codes besides 0 that are not failures. */
  readonly expectedExitCodes?: readonly number[];
  /** For commands that write the user's files: git finishes if this process dies. The result has no `stdout`. */
  readonly finishesAlone?: boolean;
  /** Receives the output, which can then have any size, instead of the result. */
  readonly onStdoutChunk?: (chunk: Buffer) => void;
  /** Git answers questions until its input ends, so its time is not limited. */
  readonly endsWithInput?: boolean;
  /** Git works on this git directory and is in no checkout: a git in a checkout may hold its locks. */
  readonly gitDirectory?: string | undefined;
  /** Git runs where this overlay is mounted, and `cwd` is a directory there. */
  readonly mount?: Pick<OverlayMount, "inside"> | undefined;
}

/**
 * Settings of every git command on the host. They override the configuration of the user and of the repository. The
 * agent cannot write to that configuration, but it writes files in worktrees. These settings keep git from running
 * programs that a file names, from entering directories that look like submodules, from using a directory of ordinary
 * files as a bare repository, and from starting maintenance.
 */
const HARDENED_CONFIG = [
  "safe.bareRepository=explicit",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.splitIndex=false",
  "core.quotePath=false",
  "diff.external=",
  "diff.ignoreSubmodules=all",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "protocol.ext.allow=never",
  "protocol.file.allow=always",
  "gc.auto=0",
  "maintenance.auto=false",
  "merge.verifySignatures=false",
  "advice.detachedHead=false",
] as const;

/** The last of them: git's trace of its configuration ends with it. */
export const LAST_HARDENED_KEY = "advice.detachedHead";

/** The same as arguments, to be placed before git's subcommand. */
export const HARDENED_ARGUMENTS: readonly string[] = HARDENED_CONFIG.flatMap((setting) => ["-c", setting]);

/** Variables that git inherits: enough for the user's configuration and for signing, none that selects a repository. */
const PASSED_ENVIRONMENT = [
  "HOME",
  "USER",
  "LOGNAME",
  "TMPDIR",
  "XDG_CONFIG_HOME",
  "XDG_RUNTIME_DIR",
  "GNUPGHOME",
  "GPG_TTY",
  "SSH_AUTH_SOCK",
] as const;

/** Truncated output is an error, so the limit is far above any real repository's output. */
const CAPTURE_BYTES = 256 * 1024 * 1024;

/** For a command whose output goes to a callback: enough to explain a failure. */
const ERROR_BYTES = 64 * 1024;

/** Longer than the largest checkout takes. Git may wait for ever for a network file system or a signing agent. */
export const TIMEOUT_MS = 30 * 60_000;

const environment = (extra: GitOptions["env"]): Record<string, string> => {
  const env: Record<string, string> = {
    PATH: hostPath(),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // Git writes progress even without a terminal, and dies of SIGPIPE once its output has no reader.
    GIT_PROGRESS_DELAY: "1000000",
  };
  for (const key of PASSED_ENVIRONMENT) {
    const value = process.env[key];
    if (value !== undefined) env[key] = value;
  }
  return { ...env, ...extra };
};

const toGitError =
  (cwd: string) =>
  (error: SandduneError): SandduneError =>
    error instanceof ProcessStartError && error.errorCode === "ENOENT" && existsSync(cwd)
      ? new PrerequisiteError("git", "is not installed or not on the PATH", "Install git 2.38 or newer.")
      : error;

/** Listing worktrees fails while git writes the files of a new one, which the user can add at any time. */
const metHalfMadeWorktree = (error: SandduneError): boolean =>
  error instanceof GitError && /worktrees\/.*(commondir|gitdir|HEAD)/.test(error.stderr);

const RETRY_HALF_MADE_WORKTREE = { while: metHalfMadeWorktree, schedule: Schedule.spaced(20), times: 10 };

const start = async (spec: ProcessSpec, finishesAlone: boolean): Promise<ProcessResult> => {
  if (!finishesAlone) return runProcess(spec);
  const output = openOutputFile();
  try {
    const result = await runProcess({ ...spec, outputDescriptor: output.descriptor });
    return { ...result, stderr: output.read() };
  } finally {
    output.close();
  }
};

const commandOf = (
  args: readonly string[],
  { cwd, mount, gitDirectory }: GitOptions,
): Pick<ProcessSpec, "program" | "args" | "cwd"> => {
  if (gitDirectory !== undefined) {
    return { program: "git", args: [...HARDENED_ARGUMENTS, `--git-dir=${gitDirectory}`, ...args], cwd: "/" };
  }
  const hardened = [...HARDENED_ARGUMENTS, ...args];
  if (mount === undefined) return { program: "git", args: hardened, cwd };
  const [program = "", ...entering] = mount.inside(["git", "-C", cwd, ...hardened]);
  return { program, args: entering, cwd: "/" };
};

const TOO_MUCH_OUTPUT = "too much output";

/** Whether git's output was truncated. */
export const hadTooMuchOutput = (error: unknown): boolean =>
  error instanceof GitError && error.stderr === TOO_MUCH_OUTPUT;

/** Runs git on the host. Nothing else does. */
export const git = (
  args: readonly string[],
  options: GitOptions,
): Effect.Effect<ProcessResult, SandduneError> =>
  interruptible((signal) =>
    start(
      {
        ...commandOf(args, options),
        env: environment(options.env),
        signal,
        captureBytes: options.onStdoutChunk === undefined ? CAPTURE_BYTES : ERROR_BYTES,
        ...(options.endsWithInput !== true && { timeoutMs: TIMEOUT_MS }),
        ...(options.stdin !== undefined && { stdin: options.stdin }),
        ...(options.encoding !== undefined && { encoding: options.encoding }),
        ...(options.onStdoutChunk !== undefined && { onStdoutChunk: options.onStdoutChunk }),
      },
      options.finishesAlone ?? false,
    ),
  ).pipe(
    Effect.mapError(toGitError(options.cwd)),
    Effect.flatMap((result) => {
      if (result.stdoutTruncated && options.onStdoutChunk === undefined)
        return Effect.fail(new GitError(args, result.exitCode, TOO_MUCH_OUTPUT));
      if (result.exitCode !== 0 && !options.expectedExitCodes?.includes(result.exitCode)) {
        const cause = new GitError(args, result.exitCode, result.stderr);
        const errorCode = writeErrorIn(result.stderr, options.cwd);
        return Effect.fail(
          errorCode === undefined ? cause : new HostFileError(errorCode, options.cwd, { cause }),
        );
      }
      return Effect.succeed(result);
    }),
    // Input that was read once cannot be read again.
    options.endsWithInput === true ? (effect) => effect : Effect.retry(RETRY_HALF_MADE_WORKTREE),
  );

/** Runs git and returns its output without the final newline. */
export const gitText = (args: readonly string[], options: GitOptions): Effect.Effect<string, SandduneError> =>
  git(args, options).pipe(Effect.map((result) => result.stdout.replace(/\n$/, "")));
