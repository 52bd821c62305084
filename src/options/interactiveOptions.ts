import type { AgentProvider } from "../agents/contract.ts";
import type { InteractiveSandboxProvider } from "../sandboxes/contract.ts";
import type { Hooks, SandboxHooks, SetupCacheOption } from "./hooks.ts";
import type { CheckoutOptions, PromptOption, SessionOptions } from "./runOptions.ts";

/** The prompt of an interactive session. Without one, the person at the terminal begins. */
export type InteractivePromptOption =
  | PromptOption
  | { readonly prompt?: never; readonly promptFile?: never; readonly promptArgs?: never };

/** The options of `sandbox.interactive()`, which all interactive sessions have in common. */
export type SandboxInteractiveOptions = InteractivePromptOption &
  SessionOptions & {
    /** The agent whose terminal interface is shown. */
    readonly agent: AgentProvider;
    /** Time limits of single steps. */
    readonly timeouts?: {
      /** For each shell expression of a prompt template. Default: 30,000. */
      readonly promptExpansionMs?: number;
    };
  };

/** The options of `interactive()`. The branch strategy is the sandbox provider's default. */
export type InteractiveOptions = SandboxInteractiveOptions &
  CheckoutOptions &
  SetupCacheOption & {
    /** Where the agent works. `noSandbox()` is the host itself. */
    readonly sandbox: InteractiveSandboxProvider;
    /** Commands that prepare the worktree and the sandbox. */
    readonly hooks?: Hooks;
  };

/** The options of `worktree.interactive()`. */
export type WorktreeInteractiveOptions = SandboxInteractiveOptions &
  SetupCacheOption & {
    /** Where the agent works. Default: `noSandbox()`, the host, where the agent asks for permission itself. */
    readonly sandbox?: InteractiveSandboxProvider;
    /** Commands that prepare the sandbox. */
    readonly hooks?: SandboxHooks;
  };
