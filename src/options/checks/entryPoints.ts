import { requireTerminal } from "../../process/terminal/terminalLease.ts";
import { branchNameProblem } from "../branchName.ts";
import type {
  InteractiveOptions,
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
import type { SandboxForkOptions } from "../sandbox.ts";
import type { CreateSandboxOptions, SandboxExecOptions, WorktreeSandboxOptions } from "../sandboxOptions.ts";
import type { CreateWorktreeOptions } from "../worktreeOptions.ts";
import {
  agent,
  completionSignal,
  cost,
  interactiveAgent,
  noResume,
  onRateLimit,
  prices,
  resumeSession,
  until,
} from "./agent.ts";
import { branch, branchStrategy, worktreeBranchStrategy } from "./branchStrategy.ts";
import {
  type Check,
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
import {
  checkAgentCan,
  checkDeclaredEnv,
  checkEnvironment,
  checkPlace,
  checkPrompt,
  checkResume,
  requirePrompt,
} from "./combinations.ts";
import { environment } from "./environment.ts";
import { commandEnv, env } from "./envVars.ts";
import { hooks, sandboxHooks, worktreeHooks } from "./hooks.ts";
import { mcpServers } from "./mcpServers.ts";
import { output } from "./output.ts";
import { sandbox, sandboxOrNone } from "./sandbox.ts";
import { execInput, logging, name, prompt, promptArgs, setupLogging, signal } from "./session.ts";
import { trajectory } from "./trajectory.ts";

/** Each is a sandbox with all its files. */
const MAX_FORKS = 32;

const SESSION = { name, env, signal };
const CHECKOUT = { cwd: text, copyToWorktree: texts };
const PROMPT = { prompt, promptFile: text, promptArgs };
const COPY_TIMEOUT = { copyToWorktreeMs: milliseconds };
const EXPANSION_TIMEOUT = { promptExpansionMs: milliseconds };

const AGENT: Checks<AgentOptions<unknown>> = {
  ...SESSION,
  ...PROMPT,
  agent,
  maxIterations: count,
  completionSignal,
  idleTimeoutSeconds: seconds,
  completionTimeoutMs: milliseconds,
  logging,
  output,
  maxTokens: count,
  maxCostUsd: cost,
  prices,
  onRateLimit,
  mcpServers,
  until,
  trajectory,
  timeouts: nested("timeouts", EXPANSION_TIMEOUT),
};
const RESUME: Checks<ResumeOptions> = { resumeSession, forkSession: flag };
const INTERACTION: Checks<SandboxInteractiveOptions> = {
  ...SESSION,
  ...PROMPT,
  agent: interactiveAgent,
  timeouts: nested("timeouts", EXPANSION_TIMEOUT),
};
const ENVIRONMENT: Checks<EnvironmentOptions> = { environment };
const LASTING_SANDBOX = {
  ...SESSION,
  ...ENVIRONMENT,
  sandbox,
  logging: setupLogging,
};

/** For calls that both make a checkout and expand a prompt. */
const BOTH_TIMEOUTS = nested("timeouts", { ...COPY_TIMEOUT, ...EXPANSION_TIMEOUT });

const RUN: Checks<RunOptions> = {
  ...AGENT,
  ...CHECKOUT,
  ...ENVIRONMENT,
  ...RESUME,
  sandbox,
  branchStrategy,
  hooks,
  cache: flag,
  timeouts: BOTH_TIMEOUTS,
};
const SANDBOX_RUN: Checks<SandboxRunOptions> = {
  ...AGENT,
  resumeSession: noResume,
  forkSession: noResume,
};
const WORKTREE_RUN: Checks<WorktreeRunOptions> = {
  ...AGENT,
  ...ENVIRONMENT,
  ...RESUME,
  sandbox,
  hooks: sandboxHooks,
  cache: flag,
};
const INTERACTIVE: Checks<InteractiveOptions> = {
  ...INTERACTION,
  ...CHECKOUT,
  sandbox: sandboxOrNone,
  hooks,
  cache: flag,
  timeouts: BOTH_TIMEOUTS,
};
const WORKTREE_INTERACTIVE: Checks<WorktreeInteractiveOptions> = {
  ...INTERACTION,
  sandbox: sandboxOrNone,
  hooks: sandboxHooks,
  cache: flag,
};
const CREATE_SANDBOX: Checks<CreateSandboxOptions> = {
  ...LASTING_SANDBOX,
  ...CHECKOUT,
  branch,
  from: text,
  hooks,
  cache: flag,
  timeouts: nested("timeouts", COPY_TIMEOUT),
};
const WORKTREE_SANDBOX: Checks<WorktreeSandboxOptions> = {
  ...LASTING_SANDBOX,
  hooks: sandboxHooks,
  cache: flag,
};
const CREATE_WORKTREE: Checks<CreateWorktreeOptions> = {
  ...CHECKOUT,
  name,
  signal,
  branchStrategy: worktreeBranchStrategy,
  hooks: worktreeHooks,
  logging: setupLogging,
  timeouts: nested("timeouts", COPY_TIMEOUT),
};
export const EXEC: Checks<SandboxExecOptions> = {
  cwd: text,
  env: commandEnv,
  stdin: execInput,
  timeoutMs: milliseconds,
  signal,
  onLine: callback,
  onStderrLine: callback,
  captureBytes: count,
};

/** Makes the check of an entry point: for callers without types, it refuses what the types would refuse. */
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

const forkCount: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_FORKS
    ? undefined
    : `must be a whole number from 1 to ${MAX_FORKS}`;

const forkBranches =
  (count: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length !== count) return `must have ${count} names, one for each fork`;
    if (new Set(value).size !== count) return "must name a different branch for each fork";
    const problems = value.map((name) =>
      typeof name === "string" ? branchNameProblem(name) : "it is not a string",
    );
    const index = problems.findIndex((problem) => problem !== undefined);
    return index < 0
      ? undefined
      : `${JSON.stringify(value[index])} is not the name of a branch: ${problems[index]}`;
  };

export const validateFork = (count: number, options: SandboxForkOptions): void => {
  checkValue("count", count, forkCount);
  members("options", options, { branches: forkBranches(count), name, signal });
};

export const validateExec = (command: string, options: SandboxExecOptions): void => {
  checkValue("command", command, text);
  members("options", options, EXEC);
};
