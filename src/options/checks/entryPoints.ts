import { InvalidOptionsError } from "../../errors.ts";
import { requireTerminal } from "../../process/terminal/terminalLease.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type {
  InteractiveOptions,
  InteractivePromptOption,
  SandboxInteractiveOptions,
  WorktreeInteractiveOptions,
} from "../interactiveOptions.ts";
import type {
  AgentOptions,
  EnvironmentOptions,
  ResumeOptions,
  RunOptions,
  SandboxRunOptions,
  WorktreeRunOptions,
} from "../runOptions.ts";
import type { CreateSandboxOptions, SandboxExecOptions, WorktreeSandboxOptions } from "../sandboxOptions.ts";
import type { CreateWorktreeOptions } from "../worktreeOptions.ts";
import {
  type Checks,
  callback,
  checkValue,
  count,
  flag,
  members,
  milliseconds,
  nested,
  seconds,
  text,
  texts,
} from "./checks.ts";
import { requireFreeName } from "./mcpServers.ts";
import { trajectoryOption } from "./trajectory.ts";
import * as value from "./values.ts";

const SESSION = { name: value.name, env: value.env, signal: value.signal };
const CHECKOUT = { cwd: text, copyToWorktree: texts };
const PROMPT = { prompt: value.prompt, promptFile: text, promptArgs: value.promptArgs };
const COPY_TIMEOUT = { copyToWorktreeMs: milliseconds };
const EXPANSION_TIMEOUT = { promptExpansionMs: milliseconds };

const AGENT: Checks<AgentOptions<unknown>> = {
  ...SESSION,
  ...PROMPT,
  agent: value.agent,
  maxIterations: count,
  completionSignal: value.completionSignal,
  idleTimeoutSeconds: seconds,
  completionTimeoutMs: milliseconds,
  logging: value.logging,
  output: value.output,
  maxTokens: count,
  maxCostUsd: value.cost,
  prices: value.prices,
  onRateLimit: value.onRateLimit,
  mcpServers: value.mcpServers,
  until: value.until,
  trajectory: trajectoryOption,
  timeouts: nested("timeouts", EXPANSION_TIMEOUT),
};
const RESUME: Checks<ResumeOptions> = { resumeSession: value.resumeSession, forkSession: flag };
const INTERACTION: Checks<SandboxInteractiveOptions> = {
  ...SESSION,
  ...PROMPT,
  agent: value.interactiveAgent,
  timeouts: nested("timeouts", EXPANSION_TIMEOUT),
};
const ENVIRONMENT: Checks<EnvironmentOptions> = { environment: value.environment };
const LASTING_SANDBOX = {
  ...SESSION,
  ...ENVIRONMENT,
  sandbox: value.sandbox,
  logging: value.setupLogging,
};

/** Where there is both a checkout to be made and a prompt to be expanded. */
const BOTH_TIMEOUTS = nested("timeouts", { ...COPY_TIMEOUT, ...EXPANSION_TIMEOUT });

const RUN: Checks<RunOptions> = {
  ...AGENT,
  ...CHECKOUT,
  ...ENVIRONMENT,
  ...RESUME,
  sandbox: value.sandbox,
  branchStrategy: value.branchStrategy,
  hooks: value.hooks,
  timeouts: BOTH_TIMEOUTS,
};
const SANDBOX_RUN: Checks<SandboxRunOptions> = {
  ...AGENT,
  resumeSession: value.noResume,
  forkSession: value.noResume,
};
const WORKTREE_RUN: Checks<WorktreeRunOptions> = {
  ...AGENT,
  ...ENVIRONMENT,
  ...RESUME,
  sandbox: value.sandbox,
  hooks: value.sandboxHooks,
};
const INTERACTIVE: Checks<InteractiveOptions> = {
  ...INTERACTION,
  ...CHECKOUT,
  sandbox: value.sandboxOrNone,
  hooks: value.hooks,
  timeouts: BOTH_TIMEOUTS,
};
const WORKTREE_INTERACTIVE: Checks<WorktreeInteractiveOptions> = {
  ...INTERACTION,
  sandbox: value.sandboxOrNone,
  hooks: value.sandboxHooks,
};
const CREATE_SANDBOX: Checks<CreateSandboxOptions> = {
  ...LASTING_SANDBOX,
  ...CHECKOUT,
  branch: value.branch,
  from: text,
  hooks: value.hooks,
  timeouts: nested("timeouts", COPY_TIMEOUT),
};
const WORKTREE_SANDBOX: Checks<WorktreeSandboxOptions> = { ...LASTING_SANDBOX, hooks: value.sandboxHooks };
const CREATE_WORKTREE: Checks<CreateWorktreeOptions> = {
  ...CHECKOUT,
  name: value.name,
  signal: value.signal,
  branchStrategy: value.worktreeBranchStrategy,
  hooks: value.worktreeHooks,
  logging: value.setupLogging,
  timeouts: nested("timeouts", COPY_TIMEOUT),
};
const EXEC: Checks<SandboxExecOptions> = {
  cwd: text,
  env: value.commandEnv,
  stdin: value.execInput,
  timeoutMs: milliseconds,
  signal: value.signal,
  onLine: callback,
  onStderrLine: callback,
  captureBytes: count,
};

const checkPrompt = ({ prompt, promptFile, promptArgs }: InteractivePromptOption): void => {
  if (prompt !== undefined && promptFile !== undefined) {
    throw new InvalidOptionsError("promptFile", "`prompt` and `promptFile` exclude each other: pass one.");
  }
  if (promptArgs !== undefined && promptFile === undefined) {
    throw new InvalidOptionsError(
      "promptArgs",
      "an inline `prompt` is handed over as it is, nothing is filled in. Put the template into a file and pass `promptFile`.",
    );
  }
};

const requirePrompt = (options: InteractivePromptOption): void => {
  checkPrompt(options);
  if (options.prompt === undefined && options.promptFile === undefined) {
    throw new InvalidOptionsError(
      "prompt",
      "pass `prompt` with the text, or `promptFile` with a file that holds it.",
    );
  }
};

/** Providers come from elsewhere: what they declare is checked as well. */
const checkDeclaredEnv = (options: object): void => {
  for (const name of ["agent", "sandbox"]) {
    const provider: unknown = Reflect.get(options, name);
    const declared = isObject(provider) ? provider["env"] : undefined;
    if (declared !== undefined) checkValue(`${name}.env`, declared, value.env);
  }
};

/** What was meant for a sandbox is not run on the host by mistake. */
const checkPlace = ({ sandbox, hooks }: WorktreeInteractiveOptions): void => {
  const isOnHost = sandbox === undefined || sandbox.type === "none";
  if (isOnHost && (hooks?.sandbox?.onSandboxReady ?? []).length > 0) {
    throw new InvalidOptionsError(
      "hooks.sandbox",
      "there is no sandbox that these hooks could run in. Use hooks.host, or a sandbox.",
    );
  }
};

/** Only the first iteration could go on with the session. */
const checkResume = (options: ResumeOptions & AgentOptions<unknown>): void => {
  const { agent, resumeSession, forkSession, maxIterations } = options;
  if (resumeSession === undefined) {
    if (forkSession) throw new InvalidOptionsError("forkSession", "there is no `resumeSession` to fork.");
    return;
  }
  if (agent.sessions === undefined) {
    throw new InvalidOptionsError("resumeSession", `the agent ${agent.name} cannot resume a session.`);
  }
  if (maxIterations !== undefined && maxIterations > 1) {
    throw new InvalidOptionsError(
      "resumeSession",
      "only one iteration can go on with a session: leave `maxIterations` out.",
    );
  }
};

/** An option that the agent could do nothing with would be a promise that nobody keeps. */
const checkAgentCan = (options: AgentOptions<unknown>): void => {
  const { agent, maxTokens, maxCostUsd, prices, mcpServers, output } = options;
  const budget = maxTokens !== undefined ? "maxTokens" : maxCostUsd !== undefined ? "maxCostUsd" : undefined;
  if (budget !== undefined && agent.reportsUsage === undefined) {
    throw new InvalidOptionsError(budget, `the agent ${agent.name} does not tell how many tokens it uses.`);
  }
  if ((maxCostUsd === undefined) !== (prices === undefined)) {
    throw new InvalidOptionsError(
      maxCostUsd === undefined ? "prices" : "maxCostUsd",
      "`maxCostUsd` and `prices` go together: what tokens cost is for you to say.",
    );
  }
  if ((output?.maxRetries ?? 0) > 0 && agent.sessions === undefined) {
    throw new InvalidOptionsError(
      "output.maxRetries",
      `the agent ${agent.name} cannot resume its session, so it cannot be asked to correct its answer.`,
    );
  }
  if (mcpServers !== undefined && agent.acceptsMcpServers !== true) {
    throw new InvalidOptionsError("mcpServers", `the agent ${agent.name} cannot be given any.`);
  }
};

const checkEnvironment = ({
  environment,
  until,
  mcpServers = {},
}: EnvironmentOptions & AgentOptions<unknown>): void => {
  if (until !== undefined && environment === undefined) {
    throw new InvalidOptionsError("until", "there are no tests that could pass: pass `environment`, too.");
  }
  if (environment !== undefined) requireFreeName(mcpServers);
};

/** Makes the function that rejects what a door's types would have rejected, for callers that have none. */
const validator =
  <Options extends object>(
    table: Checks<Options>,
    required: readonly (keyof Options & string)[],
    ...checks: readonly ((options: Options) => void)[]
  ) =>
  (options: Options): void => {
    members("options", options, table, required);
    checkDeclaredEnv(options);
    for (const check of checks) check(options);
  };

export const validateRun = validator(
  RUN,
  ["agent", "sandbox"],
  requirePrompt,
  checkResume,
  checkAgentCan,
  checkEnvironment,
);
export const validateSandboxRun = validator(SANDBOX_RUN, ["agent"], requirePrompt, checkAgentCan);
export const validateWorktreeRun = validator(
  WORKTREE_RUN,
  ["agent", "sandbox"],
  requirePrompt,
  checkResume,
  checkAgentCan,
  checkEnvironment,
);

export const validateInteractive = validator(
  INTERACTIVE,
  ["agent", "sandbox"],
  checkPrompt,
  checkPlace,
  requireTerminal,
);
export const validateSandboxInteractive = validator(INTERACTION, ["agent"], checkPrompt, requireTerminal);
export const validateWorktreeInteractive = validator(
  WORKTREE_INTERACTIVE,
  ["agent"],
  checkPrompt,
  checkPlace,
  requireTerminal,
);

export const validateCreateSandbox = validator(CREATE_SANDBOX, ["branch", "sandbox"]);
export const validateWorktreeSandbox = validator(WORKTREE_SANDBOX, ["sandbox"]);
export const validateCreateWorktree = validator(CREATE_WORKTREE, ["branchStrategy"]);

export const validateExec = (command: string, options: SandboxExecOptions): void => {
  checkValue("command", command, text);
  members("options", options, EXEC);
};
