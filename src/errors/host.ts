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
      `Waited ${timeoutMs} ms for the lock ${lockPath}, held by ${owner}. If that process is not running any more, remove the file.`,
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

/** A program took longer than it may, and was killed with all its descendants. */
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

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "Free some disk space and run again.",
  EDQUOT: "Your disk quota is used up: free some space and run again.",
  EROFS: "It is mounted read-only.",
  EMFILE: "This process has too many files open: raise the limit (ulimit -n) or run less at once.",
  ENFILE: "The machine has too many files open: run less at once.",
  EIO: "The disk could not be read or written: check it before you run again.",
};

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
      `The worktree ${worktreePath} is gone. The commits on ${branch} are not: close what worked in it, and make another one.`,
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
      `The worktree ${worktreePath} was switched to ${elsewhere}, but agents work on ${branch} in it.${nextCommands([["git", "-C", worktreePath, "switch", branch]])}`,
    );
  }
}

/** There is no terminal for an interactive session, or another session has it. */
export class TerminalError extends SandduneError {
  constructor(
    readonly problem: string,
    readonly hint: string,
  ) {
    super(sentences(`The terminal: ${problem}.`, hint));
  }
}

/** The user gave up at a question that was asked at the terminal, before anything was created. */
export class CancelledError extends SandduneError {
  constructor(readonly question: string) {
    super(`Cancelled at the terminal, at: ${question}`);
  }
}

/** The run was stopped with `sanddune stop`. */
export class RunStoppedError extends SandduneError {
  constructor(
    /** The run that was asked to stop: this one, or the sandbox or worktree that it works in. */
    readonly stoppedRunId: string,
  ) {
    super(`Stopped by sanddune stop ${stoppedRunId}. What the agent had committed by then is kept.`);
  }
}

/** The sandbox or the worktree was closed: nothing more can be done with it, and what was going on has been stopped. */
export class ClosedError extends SandduneError {
  constructor(readonly handle: "sandbox" | "worktree") {
    super(
      `The ${handle} was closed. Make another one with ${handle === "sandbox" ? "createSandbox()" : "createWorktree()"}.`,
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

/** A bug in sanddune. */
export class InternalError extends SandduneError {
  constructor(options: { cause: unknown }) {
    super(
      `sanddune met a situation that it does not know (${String(options.cause)}). This is a bug: please report it with the stack below.`,
      options,
    );
  }
}
