export { command } from "./agents/command.ts";
export type {
  AgentCommand,
  AgentEvent,
  AgentIteration,
  AgentProvider,
  AgentStreamEvent,
} from "./agents/contract.ts";
export { type ScriptedStep, scripted } from "./agents/scripted.ts";
export type { LoggingOption } from "./display/logging.ts";
export type { EnvValue, EnvVars } from "./envVars.ts";
export * from "./errors.ts";
export type {
  BranchStrategy,
  HeadStrategy,
  MergeToHeadStrategy,
  NamedBranchStrategy,
  WorktreeBranchStrategy,
} from "./git/branchStrategy.ts";
export type { Hooks, HostHook, SandboxHook } from "./hooks.ts";
export { Output, type OutputDefinition, type StandardSchema } from "./output.ts";
export type { PromptArgs } from "./prompt/resolvePrompt.ts";
export type { Commit, IterationResult, IterationUsage, RunResult } from "./results.ts";
export { run } from "./run.ts";
export type { BranchStrategyFor, PromptOption, RunOptions } from "./runOptions.ts";
export {
  type BindMountCreateOptions,
  type BindMountSandboxHandle,
  type BindMountSandboxProvider,
  type BindMountSandboxProviderDefinition,
  createBindMountSandboxProvider,
  createIsolatedSandboxProvider,
  type ExecInput,
  type ExecOptions,
  type ExecResult,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type IsolatedSandboxProviderDefinition,
  type PreflightOptions,
  type SandboxCreateOptions,
  type SandboxHandle,
  type SandboxMount,
  type SandboxProvider,
} from "./sandboxes/contract.ts";
