import { SandduneError } from "./base.ts";
import { block, sentence } from "./text.ts";

/** A hook failed or took too long. Hooks that ran beside it were stopped, and the agent was not started. */
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
      `The hook ${hook} ${problem}: ${command}${block("Last output", stderr.trim() === "" ? stdout : stderr)}`,
    );
  }
}

/** A shell expression of a prompt template failed, so there is no prompt. The agent was not started with it. */
export class PromptExpansionError extends SandduneError {
  constructor(
    /** The command as it stands in the template. */
    readonly expression: string,
    readonly promptFile: string,
    readonly problem: string,
    readonly exitCode: number | undefined,
    readonly stderr: string,
  ) {
    super(`The shell expression !\`${expression}\` of ${promptFile} ${problem}.${block("Output", stderr)}`);
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
    super(`The agent ${agent} failed: ${sentence(problem)}${block("Last output", stderr)}`);
  }
}

/** The model refused the agent's credentials: a key is missing, wrong or has no credit left. */
export class AgentAuthenticationError extends AgentFailedError {
  constructor(
    agent: string,
    problem: string,
    exitCode: number | undefined,
    stderr: string,
    /** Env vars with credentials that the agent accepts, as far as they are known: it needs one of them. */
    readonly credentials: readonly string[] = [],
  ) {
    super(agent, problem, exitCode, stderr);
    if (credentials.length > 0)
      this.message += `\nThe agent needs one of these env vars: ${credentials.join(", ")}.`;
  }
}

/** The model's rate limit is reached, and the agent has given up. */
export class AgentRateLimitError extends AgentFailedError {
  constructor(
    agent: string,
    problem: string,
    exitCode: number | undefined,
    stderr: string,
    /** When the limit ends, if the agent reported it. */
    readonly retryAt: Date | undefined,
  ) {
    super(agent, problem, exitCode, stderr);
  }
}

/** The model's servers were overloaded, failed, or could not be reached. */
export class AgentOverloadedError extends AgentFailedError {}

/** Only bubblewrap has no network by default. */
const networkAdvice = (sandbox: string | undefined): string =>
  sandbox === "bubblewrap"
    ? "A bubblewrap sandbox has a network only with `network: true`. If it has one, check the model's address and the proxy settings."
    : "Check the sandbox's network, the model's address and the proxy settings.";

/** There was no connection from the sandbox to the model. */
export class ModelUnreachableError extends AgentOverloadedError {
  constructor(
    agent: string,
    problem: string,
    exitCode: number | undefined,
    stderr: string,
    /** The name of the sandbox provider. */
    readonly sandbox: string | undefined,
  ) {
    super(agent, problem, exitCode, stderr);
    this.message = `The agent ${agent} cannot reach its model: ${sentence(problem)} ${networkAdvice(sandbox)}${block("Last output", stderr)}`;
  }
}

/** The agent cannot be used as it is installed and set up. It did not start working. */
export class AgentUnavailableError extends AgentFailedError {
  constructor(agent: string, problem: string, exitCode: number | undefined, stderr: string) {
    super(agent, problem, exitCode, stderr);
    this.message = `The agent ${agent} cannot be used as it is set up: ${sentence(problem)}${block("Last output", stderr)}`;
  }
}

/** The conversation no longer fits into the model's context. */
export class AgentContextLengthError extends AgentFailedError {}

/** The run has used more than `maxTokens` or `maxCostUsd` allows. Its commits are kept. */
export class BudgetExceededError extends SandduneError {
  constructor(
    readonly option: "maxTokens" | "maxCostUsd",
    readonly limit: number,
    /** The usage when the run was stopped. */
    readonly used: number,
  ) {
    const amount = (value: number) =>
      option === "maxTokens" ? `${value} tokens` : `${Number(value.toPrecision(6))} USD`;
    super(
      `The run was stopped because it used ${amount(used)}; \`${option}\` allows ${amount(limit)}. Its commits are kept.`,
    );
  }
}

/** This machine has no such agent session. */
export class AgentSessionNotFoundError extends SandduneError {
  constructor(
    readonly agent: string,
    /** `undefined` if the agent did not report it. */
    readonly sessionId: string | undefined,
    readonly problem: string,
  ) {
    const session = sessionId === undefined ? "" : ` ${JSON.stringify(sessionId)}`;
    super(`The session${session} of the agent ${agent} cannot be resumed: ${problem}.`);
  }
}

/** Sandboxes without an image: a program that is not installed on the host is not in the sandbox either. */
const WITH_PROGRAMS_OF_HOST = ["bubblewrap", "test-isolated"];

const ON_HOST = "Install it, or check your PATH.";

/** How to install a missing program. */
const remedyFor = (sandbox: string | undefined, dockerfile: readonly string[]): string => {
  if (sandbox === undefined) return ON_HOST;
  if (WITH_PROGRAMS_OF_HOST.includes(sandbox)) {
    const commands = dockerfile.map((line) => line.replace(/^RUN /, "")).join("\n");
    return `${sandbox} uses the programs of this machine. Install it for all users, or for your user and on your PATH.${block("On this machine, as root or with your own Node.js", commands)}`;
  }
  return `Install it in the sandbox's image, or check the PATH there.${block("Add to the Dockerfile", dockerfile.join("\n"))}`;
};

/** The agent's program does not exist in the sandbox, or on the host. */
export class AgentNotFoundError extends SandduneError {
  constructor(
    readonly agent: string,
    readonly program: string,
    /** `undefined` for the host itself. */
    readonly sandbox: string | undefined,
    /** Lines of a Dockerfile that install it, if they are known. */
    readonly dockerfile: readonly string[] = [],
  ) {
    const place = sandbox === undefined ? "on this machine" : `in the sandbox ${sandbox}`;
    super(
      `The agent ${agent} could not be started: there is no ${JSON.stringify(program)} ${place}. ${remedyFor(sandbox, dockerfile)}`,
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

/** The agent's text lacks the answer that `output` asks for. Its commits are kept; with `merge-to-head` they were not merged. */
export class StructuredOutputError extends SandduneError {
  constructor(
    readonly tag: string,
    readonly problem: string,
    /** The text in the tag; the end of the agent's text if there is no such tag. */
    readonly text: string,
    /** The problems that the schema reported. */
    readonly issues: readonly { readonly message: string; readonly path: readonly string[] }[] = [],
    options?: { cause?: unknown },
  ) {
    super(
      `The agent's output <${tag}> cannot be used: ${problem}.${block("Text of the agent", text)}`,
      options,
    );
  }
}
