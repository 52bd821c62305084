import type { ExecOptions, SandboxProvider } from "../sandboxes/contract.ts";
import type { CommandEnv } from "./envVars.ts";
import type { Hooks, SandboxHooks } from "./hooks.ts";
import type { LoggingOption } from "./logging.ts";
import type { CheckoutOptions, EnvironmentOptions, SessionOptions } from "./runOptions.ts";

/** What all ways to make a sandbox that lasts have in common. */
interface LastingSandboxOptions extends Omit<SessionOptions, "signal">, EnvironmentOptions {
  /** For the making only: aborting it gives everything back, and rejects with `signal.reason`. */
  readonly signal?: AbortSignal;
  /** The provider that makes the sandbox. */
  readonly sandbox: SandboxProvider;
  /** How the making and the end of the sandbox are shown; `{ type: "file" }` when it is left out. */
  readonly logging?: Omit<LoggingOption, "onAgentStreamEvent">;
}

/** The options of `createSandbox()`. */
export interface CreateSandboxOptions extends LastingSandboxOptions, CheckoutOptions {
  /** The branch that everything in the sandbox commits to; it is created if it does not exist. */
  readonly branch: string;
  /** Where a new branch starts: a branch, tag or commit. HEAD when it is left out. */
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
  /** Env vars of this command, besides those of the sandbox. */
  readonly env?: CommandEnv;
}
