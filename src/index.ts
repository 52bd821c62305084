export { abortedRuns } from "./abortedRuns.ts";
export { type AiderEnvKey, type AiderOptions, aider } from "./agents/aider.ts";
export { type ClaudeCodeEnvKey, type ClaudeCodeOptions, claudeCode } from "./agents/claudeCode.ts";
export { type CodexEnvKey, type CodexOptions, codex } from "./agents/codex.ts";
export { type CommandOptions, command } from "./agents/command.ts";
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
export { type CopilotEnvKey, type CopilotOptions, copilot } from "./agents/copilot.ts";
export { type CursorEnvKey, type CursorOptions, cursor } from "./agents/cursor.ts";
export { type GeminiEnvKey, type GeminiOptions, gemini } from "./agents/gemini.ts";
export { type OpencodeEnvKey, type OpencodeOptions, opencode } from "./agents/opencode.ts";
export { type PiEnvKey, type PiOptions, pi } from "./agents/pi.ts";
export { type ScriptedStep, scripted } from "./agents/scripted.ts";
export { createSandbox } from "./createSandbox.ts";
export { createSandboxHandle } from "./createSandboxHandle.ts";
export { createWorktree } from "./createWorktree.ts";
export type { LoggingOption } from "./display/logging.ts";
export type { TestResult, TestResults } from "./environment/contract.ts";
export type { CommandEnv, EnvValue, EnvVars } from "./envVars.ts";
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
export type {
  BranchStrategy,
  HeadStrategy,
  MergeToHeadStrategy,
  NamedBranchStrategy,
  WorktreeBranchStrategy,
} from "./git/branchStrategy.ts";
export type {
  Hooks,
  HostHook,
  HostSandboxHooks,
  HostWorktreeHooks,
  SandboxHook,
  SandboxHooks,
  WorktreeHooks,
} from "./hooks.ts";
export { interactive } from "./interactive.ts";
export type {
  InteractiveOptions,
  InteractivePromptOption,
  SandboxInteractiveOptions,
  WorktreeInteractiveOptions,
} from "./interactiveOptions.ts";
export { Output } from "./options/output.ts";
export type {
  OutputDefinition,
  StandardSchema,
  StandardSchemaIssue,
  StandardSchemaResult,
} from "./output.ts";
export type { PromptArgs } from "./prompt/resolvePrompt.ts";
export type {
  AbortedRun,
  Artifact,
  CloseResult,
  Commit,
  GoOnOptions,
  InteractiveResult,
  IterationResult,
  IterationUsage,
  KeptRef,
  RunResult,
  SandboxExecResult,
  SandboxRunResult,
} from "./results.ts";
export { run } from "./run.ts";
export { runAll } from "./runAll.ts";
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
  type NetworkPolicy,
  type NoSandboxCreateOptions,
  type NoSandboxProvider,
  type PreflightOptions,
  type SandboxCapabilities,
  type SandboxCreateOptions,
  type SandboxHandle,
  type SandboxMount,
  type SandboxProvider,
} from "./sandboxes/contract.ts";
export type { LeftSandbox, SandboxLeftovers, UnlistedSandbox } from "./sandboxes/leftovers.ts";
export { type DockerfileImage, readDockerfile } from "./sandboxes/services/readDockerfile.ts";
export type { CreateSandboxOptions, SandboxExecOptions, WorktreeSandboxOptions } from "./sandboxOptions.ts";
export type {
  CommandResult,
  SandboxCommandOptions,
  SandboxHandleOptions,
  StandaloneSandbox,
} from "./standaloneSandbox.ts";
export type { TokenPrices } from "./usage.ts";
export type { Worktree } from "./worktree.ts";
export type { CreateWorktreeOptions } from "./worktreeOptions.ts";
