/** A shell command that runs on the host while a run is set up. */
export interface HostHook {
  /** A command for `sh`. */
  readonly command: string;
  /** Default: 60,000. */
  readonly timeoutMs?: number;
}

/** What the result of a hook depends on, besides its own text and the sandbox that it runs in. */
export interface HookCache {
  /**
   * Committed files, such as lock files, relative to `cwd`. If one of them changes, the hook runs again. No globs, directories or
   * symbolic links.
   */
  readonly key?: readonly string[];
}

/** A shell command that runs in the sandbox while a run is set up. */
export interface SandboxHook extends HostHook {
  /** Whether it runs as root. Default: `false`. */
  readonly sudo?: boolean;
  /**
   * Keep what the hook has done, so that later sandboxes start from it instead of running the hook again. Only the first hooks of
   * the list can have it. Default: the hook runs in each sandbox.
   */
  readonly cache?: HookCache;
}

/** Commands on the host that prepare a worktree. */
export interface HostWorktreeHooks {
  /** Run in the worktree, after `copyToWorktree` and before the sandbox is created. */
  readonly onWorktreeReady?: readonly HostHook[];
}

/** Commands on the host that prepare a sandbox. */
export interface HostSandboxHooks {
  /** Run when the sandbox has started, in parallel with `sandbox.onSandboxReady`. */
  readonly onSandboxReady?: readonly HostHook[];
}

/** Commands that prepare a worktree. */
export interface WorktreeHooks {
  readonly host?: HostWorktreeHooks;
}

/** Commands that prepare a sandbox. */
export interface SandboxHooks {
  readonly host?: HostSandboxHooks;
  readonly sandbox?: {
    /** Run in the sandbox when it has started, before the agent starts. */
    readonly onSandboxReady?: readonly SandboxHook[];
  };
}

/** Options of calls that make a sandbox with hooks. */
export interface SetupCacheOption {
  /** `false`: run all hooks, and keep nothing of what they do, even if they have `cache`. Default: `true`. */
  readonly cache?: boolean;
}

/**
 * Commands that prepare a run. The commands of a list run one after the other. The first failure fails the run.
 *
 * @example
 * await run({
 *   ...options,
 *   hooks: {
 *     host: { onWorktreeReady: [{ command: "cp .env.example .env" }] },
 *     sandbox: { onSandboxReady: [{ command: "npm ci", timeoutMs: 300_000 }] },
 *   },
 * });
 */
export interface Hooks extends SandboxHooks {
  readonly host?: HostWorktreeHooks & HostSandboxHooks;
}
