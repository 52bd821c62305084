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

/** The service has no capacity at the moment, or does not answer. The same call may succeed later. */
export class SandboxBusyError extends SandboxUnavailableError {
  constructor(
    sandbox: string,
    problem: string,
    hint: string,
    /** How long to wait before the next attempt, if the service reported it. */
    readonly retryAfterMs?: number,
  ) {
    super(sandbox, problem, hint);
  }
}

/** An operation of the sandbox provider failed or was refused. The sandbox itself may still be usable. */
export class SandboxError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly problem: string,
    readonly output = "",
    options?: { cause?: unknown },
  ) {
    super(`The ${sandbox} sandbox: ${problem}.${block("Output", output)}`, options);
  }
}

/** Files made in the sandbox would not belong to the user who started the run. */
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
        `Commands in the ${sandbox} sandbox run as uid ${actualUid}, but the ${what} belongs to ${expectedUid}: neither user could change the other's files.`,
        hint,
      ),
    );
  }
}

/** The sandbox died, or can no longer be reached. This is never a failure of the agent, and never success. */
export class SandboxLostError extends SandduneError {
  constructor(
    readonly sandbox: string,
    readonly problem: string,
    readonly diagnostics = "",
    /** Whether commands in the sandbox caused the loss: they used up its memory, or made it unusable. */
    readonly isByCommands = false,
  ) {
    super(`The ${sandbox} sandbox was lost: ${problem}.${block("Diagnostics", diagnostics)}`);
  }
}
