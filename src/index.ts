export { type CommandOptions, command } from "./agents/command.ts";
export type {
  AgentCommand,
  AgentEvent,
  AgentInteraction,
  AgentIteration,
  AgentProvider,
  AgentStreamEvent,
} from "./agents/contract.ts";
export { type ScriptedStep, scripted } from "./agents/scripted.ts";
export { createSandbox } from "./createSandbox.ts";
export { createWorktree } from "./createWorktree.ts";
export type { LoggingOption } from "./display/logging.ts";
export type { CommandEnv, EnvValue, EnvVars } from "./envVars.ts";
export * from "./errors.ts";
export type {
  BranchStrategy,
  HeadStrategy,
  MergeToHeadStrategy,
  NamedBranchStrategy,
  WorktreeBranchStrategy,
} from "./git/branchStrategy.ts";
export type { Hooks, HostHook, SandboxHook, SandboxHooks, WorktreeHooks } from "./hooks.ts";
export { interactive } from "./interactive.ts";
export type {
  InteractiveOptions,
  InteractivePromptOption,
  SandboxInteractiveOptions,
  WorktreeInteractiveOptions,
} from "./interactiveOptions.ts";
export { Output, type OutputDefinition, type StandardSchema } from "./output.ts";
export type { PromptArgs } from "./prompt/resolvePrompt.ts";
export type {
  CloseResult,
  Commit,
  InteractiveResult,
  IterationResult,
  IterationUsage,
  RunResult,
  SandboxExecResult,
} from "./results.ts";
export { run } from "./run.ts";
export type {
  AgentOptions,
  BranchStrategyFor,
  CheckoutOptions,
  PromptOption,
  RunOptions,
  SandboxRunOptions,
  SessionOptions,
  WorktreeRunOptions,
} from "./runOptions.ts";
export type { Sandbox } from "./sandbox.ts";
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
  type InteractiveExecOptions,
  type InteractiveSandboxProvider,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type IsolatedSandboxProviderDefinition,
  type NoSandboxCreateOptions,
  type NoSandboxProvider,
  type PreflightOptions,
  type SandboxCreateOptions,
  type SandboxHandle,
  type SandboxMount,
  type SandboxProvider,
} from "./sandboxes/contract.ts";
export type { CreateSandboxOptions, SandboxExecOptions, WorktreeSandboxOptions } from "./sandboxOptions.ts";
export type { Worktree } from "./worktree.ts";
export type { CreateWorktreeOptions } from "./worktreeOptions.ts";
