import type { Commit, IterationResult } from "./results.ts";

/**
 * Base of everything sanddune throws on purpose. Errors of a run session that had begun also tell what the run
 * reached: nothing that was committed or kept is hidden behind a failure.
 *
 * @example
 * try {
 *   await run(options);
 * } catch (error) {
 *   if (error instanceof SandduneError) console.error(error.message, error.commits, error.preservedWorktreePath);
 * }
 */
export abstract class SandduneError extends Error {
  /** Identifies the run session; its journal is `.sanddune/runs/<runId>/`. */
  declare runId?: string;
  /** The run's commits that reached the host repository before the failure. */
  declare commits?: Commit[];
  /** The branch that those commits are on. */
  declare branch?: string;
  /** Set when the worktree was kept on disk. */
  declare preservedWorktreePath?: string;
  declare logFilePath?: string;
  /** What else the run has to say, as in `RunResult.warnings`: where things were kept, for one. */
  declare warnings?: string[];
  /** As in `RunResult.protectedPaths`. */
  declare protectedPaths?: string[];
  /** The iterations that were finished before the failure. */
  declare iterations?: IterationResult[];

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

const sentences = (...parts: (string | undefined | false)[]): string => parts.filter(Boolean).join(" ");
const tail = (text: string, bytes = 2000): string => {
  const trimmed = text.trim();
  return trimmed.length > bytes ? `…${trimmed.slice(-bytes)}` : trimmed;
};
const block = (title: string, text: string): string => {
  const shown = tail(text);
  return shown === "" ? "" : `\n${title}:\n${shown.replace(/^/gm, "  ")}`;
};
const nextCommands = (commands: readonly string[]): string =>
  commands.length === 0 ? "" : `\nTo go on:\n${commands.map((command) => `  ${command}`).join("\n")}`;

/** An option is missing, unknown, of the wrong type, or excludes another one. */
export class InvalidOptionsError extends SandduneError {
  constructor(
    readonly option: string,
    readonly problem: string,
  ) {
    super(`Option \`${option}\`: ${problem}`);
  }
}

/** A program that sanddune itself needs on the host is missing or too old. */
export class PrerequisiteError extends SandduneError {
  constructor(
    readonly tool: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`${tool}: ${problem}.`, hint));
  }
}

export class NotARepositoryError extends SandduneError {
  constructor(readonly cwd: string) {
    super(
      `${cwd} is not inside a git repository. Pass \`cwd\`, or make it one: git init && git commit --allow-empty -m "Initial commit"`,
    );
  }
}

/** A git repository, but of a kind in which the run cannot work. */
export class UnsupportedRepositoryError extends SandduneError {
  constructor(
    readonly cwd: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`The repository at ${cwd} ${problem}.`, hint));
  }
}

export class InvalidBranchNameError extends SandduneError {
  constructor(
    override readonly branch: string,
    readonly problem: string,
  ) {
    super(`${JSON.stringify(branch)} cannot be used as a branch name: ${problem}.`);
  }
}

export class NoSuchBranchError extends SandduneError {
  constructor(override readonly branch: string) {
    super(`There is no branch or commit ${JSON.stringify(branch)} in this repository. See: git branch --all`);
  }
}

/** Something else is where sanddune keeps its own files: a symbolic link, for one. It may be an agent's doing. */
export class ConfigDirectoryError extends SandduneError {
  constructor(readonly path: string) {
    super(
      `${path} is not a directory. sanddune keeps its files there and follows no link. Look at what has put it there (git log -- ${path}), then remove it.`,
    );
  }
}

/** Another run session, or another checkout, holds the branch. */
export class BranchInUseError extends SandduneError {
  constructor(
    override readonly branch: string,
    readonly owner: string,
    readonly hint: string,
  ) {
    super(sentences(`Branch ${branch} is in use by ${owner}.`, hint));
  }
}

/** The merge lock of the repository was not released in time. */
export class LockTimeoutError extends SandduneError {
  constructor(
    readonly lockPath: string,
    readonly owner: string,
    readonly timeoutMs: number,
  ) {
    super(
      `Waited ${timeoutMs} ms for the lock ${lockPath}, held by ${owner}. If that process is not running any more, remove the file.`,
    );
  }
}

export class CopyToWorktreeError extends SandduneError {
  constructor(
    readonly item: string,
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super(`copyToWorktree ${JSON.stringify(item)}: ${problem}.`, options);
  }
}

/** The agent provider and the sandbox provider both declare an env var: neither has authority over it. */
export class EnvOverlapError extends SandduneError {
  constructor(readonly keys: readonly string[]) {
    super(
      `The agent provider and the sandbox provider both declare ${keys.join(", ")}. Declare each env var in one of them, or in the \`env\` of the run.`,
    );
  }
}

/** The value of an env var could not be had. Nothing was created. The value itself is never in the message. */
export class EnvValueError extends SandduneError {
  constructor(
    readonly key: string,
    readonly problem: string,
    readonly stderr = "",
    options?: { cause?: unknown },
  ) {
    super(`The env var ${key} has no value: ${problem}.${block("Its command said", stderr)}`, options);
  }
}

/** A prompt template has placeholders that no prompt argument fills. */
export class MissingPromptArgumentError extends SandduneError {
  constructor(
    readonly keys: readonly string[],
    readonly promptFile: string,
    readonly known: readonly string[],
  ) {
    super(
      sentences(
        `${promptFile} has ${keys.map((key) => `{{${key}}}`).join(", ")}, but there is no such prompt argument: pass ${keys.length === 1 ? "it" : "them"} in \`promptArgs\`.`,
        `Known are: ${known.join(", ")}.`,
        `To have the text itself in the prompt, write \\{{${keys[0]}}}.`,
      ),
    );
  }
}

/** A shell expression of a prompt template failed, so the prompt could not be made. The agent was not started with it. */
export class PromptExpansionError extends SandduneError {
  constructor(
    /** The command as it stands in the template. */
    readonly expression: string,
    readonly promptFile: string,
    readonly problem: string,
    readonly exitCode: number | undefined,
    readonly stderr: string,
  ) {
    super(`The shell expression !\`${expression}\` of ${promptFile} ${problem}.${block("It said", stderr)}`);
  }
}

/** A hook failed or took too long; everything that ran beside it was stopped, and the agent was not started. */
export class HookFailedError extends SandduneError {
  constructor(
    /** `host.onWorktreeReady`, `host.onSandboxReady` or `sandbox.onSandboxReady`. */
    readonly hook: string,
    readonly command: string,
    readonly problem: string,
    /** Not set when the hook was stopped. */
    readonly exitCode: number | undefined,
    readonly stdout: string,
    readonly stderr: string,
  ) {
    super(
      `The hook ${hook} ${problem}: ${command}${block("Its last words", stderr.trim() === "" ? stdout : stderr)}`,
    );
  }
}

/** The agent has not said what `output` asks for. Its commits are kept; with `merge-to-head` they were not merged. */
export class StructuredOutputError extends SandduneError {
  constructor(
    readonly tag: string,
    readonly problem: string,
    /** What stands in the tag; the end of the agent's text if there is no such tag. */
    readonly text: string,
    /** What the schema objects to. */
    readonly issues: readonly { readonly message: string; readonly path: readonly string[] }[] = [],
    options?: { cause?: unknown },
  ) {
    super(`The agent's <${tag}>: ${problem}.${block("It said", text)}`, options);
  }
}

/** A step of a run's lifecycle took longer than its timeout allows. */
export class StepTimeoutError extends SandduneError {
  constructor(
    readonly step: string,
    readonly timeoutMs: number,
    readonly setting: string,
  ) {
    super(`${step} took longer than ${timeoutMs} ms and was stopped. Raise \`${setting}\` if it needs more.`);
  }
}

/** The host could not start a program. */
export class ProcessStartError extends SandduneError {
  constructor(
    readonly program: string,
    /** The operating system's word for it: ENOENT, EACCES, E2BIG, ... */
    readonly errorCode: string,
    options?: { cause?: unknown },
  ) {
    super(
      sentences(
        `Could not start ${program} (${errorCode}).`,
        errorCode === "ENOENT" && `Is ${program} installed, and does the working directory exist?`,
      ),
      options,
    );
  }
}

export class ProcessTimeoutError extends SandduneError {
  constructor(
    readonly program: string,
    readonly timeoutMs: number,
    readonly stderr: string,
    readonly stdout = "",
  ) {
    super(`${program} took longer than ${timeoutMs} ms and was killed.${block("Its last words", stderr)}`);
  }
}

/** The process ended, or closed its standard input, before it had read all that was meant for it (EPIPE). */
export class ProcessInputError extends SandduneError {
  constructor(
    readonly program: string,
    options?: { cause?: unknown },
  ) {
    super(`${program} stopped reading its standard input.`, options);
  }
}

/** The host's file system refused: it is full, read-only, or not the user's to write to. */
export class HostFileError extends SandduneError {
  constructor(
    /** The operating system's word for it: ENOSPC, EROFS, EACCES, ... */
    readonly errorCode: string,
    readonly path: string | undefined,
    options: { cause: unknown },
  ) {
    super(
      sentences(
        `The host's file system refused an operation${path === undefined ? "" : ` on ${path}`} (${errorCode}).`,
        errorCode === "ENOSPC" || errorCode === "EDQUOT"
          ? "Free some disk space and run again."
          : "Check its permissions and run again.",
      ),
      options,
    );
  }
}

/** A git command on the host failed in a way that nothing better is known about. */
export class GitError extends SandduneError {
  constructor(
    readonly args: readonly string[],
    readonly exitCode: number,
    readonly stderr: string,
  ) {
    super(`git ${args.join(" ")} failed with exit code ${exitCode}.${block("git said", stderr)}`);
  }
}

/** The sandbox provider's runtime, image or credentials are missing: nothing was created. */
export class SandboxUnavailableError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`The ${sandbox} sandbox is not available: ${problem}.`, hint));
  }
}

/** The sandbox provider refused or failed at an operation; the sandbox as such is not known to be lost. */
export class SandboxError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly problem: string,
    readonly output = "",
    options?: { cause?: unknown },
  ) {
    super(`The ${sandbox} sandbox: ${problem}.${block("It said", output)}`, options);
  }
}

/** Files made in the sandbox would not belong to the user who started the run, or could not be made at all. */
export class SandboxUserMismatchError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly expectedUid: number,
    readonly actualUid: number,
    readonly hint: string,
  ) {
    super(
      sentences(
        `Commands in the ${sandbox} sandbox run as uid ${actualUid}, but the worktree belongs to ${expectedUid}: one could not change what the other has made.`,
        hint,
      ),
    );
  }
}

/** The sandbox died, or cannot be reached any more. This is never the agent's failure, and never success. */
export class SandboxLostError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly problem: string,
    readonly diagnostics = "",
  ) {
    super(`The ${sandbox} sandbox was lost: ${problem}.${block("Diagnostics", diagnostics)}`);
  }
}

/** The agent ran and failed. */
export class AgentFailedError extends SandduneError {
  constructor(
    readonly agent: string,
    readonly problem: string,
    readonly exitCode: number | undefined,
    readonly stderr: string,
  ) {
    super(`The agent ${agent} failed: ${problem}.${block("Its last words", stderr)}`);
  }
}

/** The agent's program does not exist in the sandbox. */
export class AgentNotFoundError extends SandduneError {
  constructor(
    readonly agent: string,
    readonly program: string,
    readonly sandbox: string,
  ) {
    super(
      `The agent ${agent} could not be started: there is no ${JSON.stringify(program)} in the sandbox ${sandbox}. Install it in the sandbox's image, or check the PATH there.`,
    );
  }
}

/** The agent printed nothing for `idleTimeoutSeconds` and was killed. */
export class IdleTimeoutError extends SandduneError {
  constructor(
    readonly agent: string,
    readonly idleTimeoutSeconds: number,
  ) {
    super(
      `The agent ${agent} printed nothing for ${idleTimeoutSeconds} s and was stopped. Raise \`idleTimeoutSeconds\` if it may be silent for longer.`,
    );
  }
}

/** What came out of the sandbox is not a sound set of commits. Nothing was taken over; the bundle is kept. */
export class ImportRefusedError extends SandduneError {
  constructor(
    readonly problem: string,
    readonly bundlePath: string | undefined,
    readonly output = "",
  ) {
    super(
      sentences(
        `The commits of the sandbox were refused: ${problem}.`,
        bundlePath && `The bundle is kept at ${bundlePath}.`,
      ) + block("git said", output),
    );
  }
}

/** The branch changed on the host while the agent worked. The agent's commits are kept under `keptRef`. */
export class BranchMovedError extends SandduneError {
  constructor(
    readonly movedBranch: string,
    readonly problem: string,
    readonly keptRef: string,
  ) {
    super(
      `Branch ${movedBranch} ${problem}, so the agent's commits were not put on it. They are kept as ${keptRef}.${nextCommands([`git log ${movedBranch}..${keptRef}`, `git merge ${keptRef}`])}`,
    );
  }
}

/** The agent's branch and the target branch change the same lines. The checkout was not touched. */
export class MergeConflictError extends SandduneError {
  constructor(
    readonly files: readonly string[],
    readonly sourceBranch: string,
    readonly targetBranch: string,
  ) {
    super(
      `Merging ${sourceBranch} into ${targetBranch} conflicts in ${files.map((file) => JSON.stringify(file)).join(", ")}. Your checkout was not touched; the commits are on ${sourceBranch}.${nextCommands([`git merge ${sourceBranch}`])}`,
    );
  }
}

/**
 * The target branch could not be moved to the merged result: uncommitted changes, a rebase, or another agent are in the
 * way. The checkout was not touched.
 */
export class CheckoutInTheWayError extends SandduneError {
  constructor(
    readonly checkoutPath: string,
    readonly sourceBranch: string,
    readonly targetBranch: string,
    readonly problem: string,
    readonly output = "",
  ) {
    super(
      `${targetBranch} could not be moved to the merged result: ${problem}. ${checkoutPath} was not touched; the commits are on ${sourceBranch}.${block("git said", output)}${nextCommands([`git -C ${checkoutPath} status`, `git -C ${checkoutPath} merge ${sourceBranch}`])}`,
    );
  }
}

/** A bug in sanddune. */
export class InternalError extends SandduneError {
  constructor(options: { cause: unknown }) {
    super(
      `sanddune met a situation that it does not know (${String(options.cause)}). This is a bug: please report it with the stack below.`,
      options,
    );
  }
}
