import type { AgentProvider } from "../agents/contract.ts";
import type { InteractiveSandboxProvider } from "../sandboxes/contract.ts";
import type { Hooks, SandboxHooks } from "./hooks.ts";
import type { CheckoutOptions, PromptOption, SessionOptions } from "./runOptions.ts";

/** Without a prompt, the person at the terminal begins. */
export type InteractivePromptOption =
  | PromptOption
  | { readonly prompt?: never; readonly promptFile?: never; readonly promptArgs?: never };

/** What all sessions at the terminal have in common: the options of `sandbox.interactive()`. */
export type SandboxInteractiveOptions = InteractivePromptOption &
  SessionOptions & {
    /** The agent whose terminal interface is shown. */
    readonly agent: AgentProvider;
    /** Limits for single steps. */
    readonly timeouts?: {
      /** Of each shell expression of a prompt template; 30 000 when it is left out. */
      readonly promptExpansionMs?: number;
    };
  };

/** The options of `interactive()`. The branch strategy is the sandbox provider's default. */
export type InteractiveOptions = SandboxInteractiveOptions &
  CheckoutOptions & {
    /** Where the agent works; `noSandbox()` is the host itself. */
    readonly sandbox: InteractiveSandboxProvider;
    /** Commands that prepare the worktree and the sandbox. */
    readonly hooks?: Hooks;
  };

/** The options of `worktree.interactive()`. */
export type WorktreeInteractiveOptions = SandboxInteractiveOptions & {
  /** `noSandbox()` when it is left out: the agent works on the host, and asks before it does anything. */
  readonly sandbox?: InteractiveSandboxProvider;
  /** Commands that prepare the sandbox. */
  readonly hooks?: SandboxHooks;
};
