import type { ExecOptions, SandboxProvider } from "../sandboxes/contract.ts";
import type { CommandEnv } from "./envVars.ts";
import type { Hooks, SandboxHooks, SetupCacheOption } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { CheckoutOptions, EnvironmentOptions, SessionOptions } from "./runOptions.ts";

/** Options that all calls which create a long-lived sandbox have in common. */
interface LastingSandboxOptions extends Omit<SessionOptions, "signal">, EnvironmentOptions, SetupCacheOption {
  /** Aborting it stops the creation, removes everything created so far, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** The sandbox provider. */
  readonly sandbox: SandboxProvider;
  /** How the start and the end of the sandbox are shown. Default: `{ type: "file" }`. */
  readonly logging?: Omit<LoggingOption, "onAgentStreamEvent">;
}

/** The options of `createSandbox()`. */
export interface CreateSandboxOptions extends LastingSandboxOptions, CheckoutOptions {
  /** The branch that all commits in the sandbox go to. It is created if it does not exist. */
  readonly branch: string;
  /** The branch, tag or commit that a new branch starts from. Default: `HEAD`. */
  readonly from?: string;
  /** Commands that prepare the worktree and the sandbox. They run once. */
  readonly hooks?: Hooks;
}

/** The options of `worktree.createSandbox()`. */
export interface WorktreeSandboxOptions extends LastingSandboxOptions {
  /** Commands that prepare the sandbox. They run once. */
  readonly hooks?: SandboxHooks;
}

/** The options of `sandbox.exec()`. */
export interface SandboxExecOptions
  extends Pick<
    ExecOptions,
    "cwd" | "stdin" | "timeoutMs" | "signal" | "onLine" | "onStderrLine" | "captureBytes"
  > {
  /** Additional env vars for this command. */
  readonly env?: CommandEnv;
}
