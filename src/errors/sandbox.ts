import { SandduneError } from "./base.ts";
import { block, sentences } from "./text.ts";

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

/** The service that makes the sandboxes has no room at the moment, or does not answer: the same call may succeed later. */
export class SandboxBusyError extends SandboxUnavailableError {
  constructor(
    sandbox: string,
    problem: string,
    hint: string,
    /** When the service wants to be asked again, if it has said so. */
    readonly retryAfterMs?: number,
  ) {
    super(sandbox, problem, hint);
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
    what = "worktree",
  ) {
    super(
      sentences(
        `Commands in the ${sandbox} sandbox run as uid ${actualUid}, but the ${what} belongs to ${expectedUid}: one could not change what the other has made.`,
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
    /** Commands in the sandbox have caused it: they have used up its memory, or made it unusable. */
    readonly isByCommands = false,
  ) {
    super(`The ${sandbox} sandbox was lost: ${problem}.${block("Diagnostics", diagnostics)}`);
  }
}
