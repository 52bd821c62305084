import { SandduneError } from "./base.ts";
import { block, nextCommands, sentences } from "./text.ts";

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
      `Waited ${timeoutMs} ms for the lock ${lockPath}, held by ${owner}. If that process no longer runs, remove the file.`,
    );
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
    /** The error code of the operating system: ENOENT, EACCES, E2BIG, ... */
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

/** A program exceeded its time limit and was killed with all its descendants. */
export class ProcessTimeoutError extends SandduneError {
  constructor(
    readonly program: string,
    readonly timeoutMs: number,
    readonly stderr: string,
    readonly stdout = "",
  ) {
    super(`${program} took longer than ${timeoutMs} ms and was killed.${block("Last output", stderr)}`);
  }
}

/** The process ended, or closed its standard input, before it had read all input (EPIPE). */
export class ProcessInputError extends SandduneError {
  constructor(
    readonly program: string,
    options?: { cause?: unknown },
  ) {
    super(`${program} stopped reading its standard input.`, options);
  }
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space and run again.",
  EDQUOT: "Your disk quota is used up: free some space and run again.",
  EROFS: "The file system is mounted read-only.",
  EMFILE: "This process has too many files open: raise the limit (ulimit -n) or run fewer tasks at a time.",
  ENFILE: "The machine has too many files open: run fewer tasks at a time.",
  ENOTEMPTY: "It holds files that sanddune did not write: move them elsewhere, and run again.",
  EIO: "The disk could not be read or written: check it before you run again.",
};

/** The host's file system refused an operation: it is full, read-only, or the user lacks permission. */
export class HostFileError extends SandduneError {
  constructor(
    /** The error code of the operating system: ENOSPC, EROFS, EACCES, ... */
    readonly errorCode: string,
    readonly path: string | undefined,
    options: { cause: unknown },
  ) {
    super(
      sentences(
        `The host's file system refused an operation${path === undefined ? "" : ` on ${path}`} (${errorCode}).`,
        HINTS[errorCode] ?? "Check its permissions and run again.",
      ),
      options,
    );
  }
}

/** The branch of a worktree was deleted while it was in use. */
export class BranchDeletedError extends SandduneError {
  constructor(
    override readonly branch: string,
    readonly sha: string,
  ) {
    super(`Branch ${branch} was deleted. It was at ${sha}.${nextCommands([["git", "branch", branch, sha]])}`);
  }
}

/** The directory of a worktree was deleted while it was in use. */
export class WorktreeMissingError extends SandduneError {
  constructor(
    readonly worktreePath: string,
    override readonly branch: string,
  ) {
    super(
      `The worktree ${worktreePath} no longer exists. Its commits are still on ${branch}. Close it, and create another one.`,
    );
  }
}

/** A worktree was switched away from its branch. */
export class WorktreeSwitchedError extends SandduneError {
  constructor(
    readonly worktreePath: string,
    override readonly branch: string,
    readonly elsewhere: string,
  ) {
    super(
      `The worktree ${worktreePath} was switched from ${branch} to ${elsewhere}, so no agent can work in it.${nextCommands([["git", "-C", worktreePath, "switch", branch]])}`,
    );
  }
}

/** There is no terminal for an interactive session, or another session uses it. */
export class TerminalError extends SandduneError {
  constructor(
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`The terminal cannot be used: ${problem}.`, hint));
  }
}

/** The user cancelled at a question at the terminal, before anything was created. */
export class CancelledError extends SandduneError {
  constructor(readonly question: string) {
    super(`Cancelled at the question: ${question}`);
  }
}

/** The run was stopped with `sanddune stop`. */
export class RunStoppedError extends SandduneError {
  constructor(
    /** The run that was asked to stop: this one, or the session of the sandbox or worktree that it works in. */
    readonly stoppedRunId: string,
  ) {
    super(`Stopped by sanddune stop ${stoppedRunId}. The agent's commits until then are kept.`);
  }
}

/** The sandbox or the worktree was closed. Calls on it were stopped, and further ones are refused. */
export class ClosedError extends SandduneError {
  constructor(readonly handle: "sandbox" | "worktree") {
    super(
      `The ${handle} was closed. Create another one with ${handle === "sandbox" ? "createSandbox()" : "createWorktree()"}.`,
    );
  }
}

/** A git command on the host failed for a reason that has no class of its own. */
export class GitError extends SandduneError {
  constructor(
    readonly args: readonly string[],
    readonly exitCode: number,
    readonly stderr: string,
  ) {
    super(`git ${args.join(" ")} failed with exit code ${exitCode}.${block("Output of git", stderr)}`);
  }
}

/** A bug in sanddune. */
export class InternalError extends SandduneError {
  constructor(options: { cause: unknown }) {
    super(
      `Internal error in sanddune: ${String(options.cause)}. This is a bug: please report it with the stack below.`,
      options,
    );
  }
}
