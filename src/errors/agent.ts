import { SandduneError } from "./base.ts";
import { block } from "./text.ts";

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

/** The agent's program does not exist where it was to run. */
export class AgentNotFoundError extends SandduneError {
  constructor(
    readonly agent: string,
    readonly program: string,
    /** `undefined` for the host itself. */
    readonly sandbox: string | undefined,
  ) {
    const place = sandbox === undefined ? "on this machine" : `in the sandbox ${sandbox}`;
    const remedy =
      sandbox === undefined
        ? "Install it, or check your PATH."
        : "Install it in the sandbox's image, or check the PATH there.";
    super(
      `The agent ${agent} could not be started: there is no ${JSON.stringify(program)} ${place}. ${remedy}`,
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
