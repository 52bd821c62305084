export { abortedRuns } from "./abortedRuns.ts";
export { type AiderEnvKey, type AiderOptions, aider } from "./agents/aider/provider.ts";
export { type ClaudeCodeEnvKey, type ClaudeCodeOptions, claudeCode } from "./agents/claudeCode/provider.ts";
export { type CodexEnvKey, type CodexOptions, codex } from "./agents/codex/provider.ts";
export { type CommandOptions, command } from "./agents/command/provider.ts";
export type {
  AgentCommand,
  AgentErrorKind,
  AgentEvent,
  AgentInstallation,
  AgentInteraction,
  AgentIteration,
  AgentOutputParser,
  AgentProgram,
  AgentProvider,
  AgentSessions,
  AgentStreamEvent,
  McpServer,
  McpServers,
  ResumedSession,
  SessionDirectory,
} from "./agents/contract.ts";
export { type CopilotEnvKey, type CopilotOptions, copilot } from "./agents/copilot/provider.ts";
export { type CursorEnvKey, type CursorOptions, cursor } from "./agents/cursor/provider.ts";
export { type GeminiEnvKey, type GeminiOptions, gemini } from "./agents/gemini/provider.ts";
export { type OpencodeEnvKey, type OpencodeOptions, opencode } from "./agents/opencode/provider.ts";
export { type PiEnvKey, type PiOptions, pi } from "./agents/pi/provider.ts";
export { type ScriptedStep, scripted } from "./agents/scripted/provider.ts";
export { createSandbox } from "./createSandbox.ts";
export { createStandaloneSandbox } from "./createStandaloneSandbox.ts";
export { createWorktree } from "./createWorktree.ts";
export type { TestResult, TestResults } from "./environment/contract.ts";
export * from "./errors.ts";
export type {
  FleetEvent,
  FleetOptions,
  FleetResult,
  TaskOutcome,
  TaskState,
  Tasks,
  TaskWithDefaults,
} from "./fleet/contract.ts";
export { interactive } from "./interactive.ts";
export type {
  BranchStrategy,
  HeadStrategy,
  MergeToHeadStrategy,
  NamedBranchStrategy,
  WorktreeBranchStrategy,
} from "./options/branchStrategy.ts";
export { Output } from "./options/checks/output.ts";
export type { CommandEnv, EnvValue, EnvVars } from "./options/envVars.ts";
export type {
  HookCache,
  Hooks,
  HostHook,
  HostSandboxHooks,
  HostWorktreeHooks,
  SandboxHook,
  SandboxHooks,
  SetupCacheOption,
  WorktreeHooks,
} from "./options/hooks.ts";
export type {
  InteractiveOptions,
  InteractivePromptOption,
  SandboxInteractiveOptions,
  WorktreeInteractiveOptions,
} from "./options/interactiveOptions.ts";
export type { LoggingOption } from "./options/logging.ts";
export type {
  OutputDefinition,
  StandardSchema,
  StandardSchemaIssue,
  StandardSchemaResult,
} from "./options/output.ts";
export type { PromptArgs } from "./options/promptArgs.ts";
export type {
  AbortedRun,
  Artifact,
  CheckoutKind,
  CloseResult,
  Commit,
  ContinueOptions,
  InteractiveResult,
  IterationResult,
  IterationUsage,
  KeptRef,
  RunResult,
  SandboxExecResult,
  SandboxRunResult,
} from "./options/results.ts";
export type {
  AgentOptions,
  BranchStrategyFor,
  CheckoutOptions,
  EnvironmentOption,
  EnvironmentOptions,
  PromptOption,
  ResumeOptions,
  RunOptions,
  SandboxRunOptions,
  SessionOptions,
  TrajectoryOption,
  WorktreeRunOptions,
} from "./options/runOptions.ts";
export type { Sandbox, SandboxForkOptions } from "./options/sandbox.ts";
export type {
  CreateSandboxOptions,
  SandboxExecOptions,
  WorktreeSandboxOptions,
} from "./options/sandboxOptions.ts";
export type {
  CommandResult,
  SandboxCommandOptions,
  StandaloneSandbox,
  StandaloneSandboxOptions,
} from "./options/standaloneSandbox.ts";
export type { TokenPrices } from "./options/usage.ts";
export type { Worktree } from "./options/worktree.ts";
export type { CreateWorktreeOptions } from "./options/worktreeOptions.ts";
export { run } from "./run.ts";
export { runAll } from "./runAll.ts";
export { runScenarios } from "./runScenarios.ts";
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
  type NetworkPolicy,
  type NoSandboxCreateOptions,
  type NoSandboxProvider,
  type PreflightOptions,
  type SandboxCapabilities,
  type SandboxCreateOptions,
  type SandboxHandle,
  type SandboxMount,
  type SandboxProvider,
  type SandboxSnapshot,
  type SnapshotOptions,
} from "./sandboxes/contract.ts";
export type { LeftSandbox, LeftSnapshot, SandboxLeftovers, UnlistedSandbox } from "./sandboxes/leftovers.ts";
export { type DockerfileImage, readDockerfile } from "./sandboxes/services/readDockerfile.ts";
export type {
  FinishedExecution,
  RunnableFilter,
  RunnerProblem,
  ScenarioCounts,
  ScenarioExecution,
  ScenarioNeeds,
  ScenarioRunEvent,
  ScenarioRunOptions,
  ScenarioRunResult,
  ScenarioSandboxes,
  ScenarioSuitePaths,
} from "./scenarios/contract.ts";
export type {
  AssertionRecord,
  ScenarioRecord,
  ScenarioResult,
  StepRecord,
} from "./scenarios/records/record.ts";
export type { Runnable } from "./scenarios/spec.ts";
