/** A shell command that runs on the host at a moment of a run's setup. */
export interface HostHook {
  /** A line for `sh`. */
  readonly command: string;
  /** 60 000 when it is left out. */
  readonly timeoutMs?: number;
}

/** A shell command that runs in the sandbox at a moment of a run's setup. */
export interface SandboxHook extends HostHook {
  /** Run as root in the sandbox. */
  readonly sudo?: boolean;
}

/** Commands on the host that get a worktree ready. */
export interface HostWorktreeHooks {
  /** After `copyToWorktree` and before the sandbox is made, in the worktree. */
  readonly onWorktreeReady?: readonly HostHook[];
}

/** Commands on the host that get a sandbox ready. */
export interface HostSandboxHooks {
  /** Once the sandbox is up, at the same time as `sandbox.onSandboxReady`. */
  readonly onSandboxReady?: readonly HostHook[];
}

/** Commands that get a worktree ready. */
export interface WorktreeHooks {
  readonly host?: HostWorktreeHooks;
}

/** Commands that get a sandbox ready. */
export interface SandboxHooks {
  readonly host?: HostSandboxHooks;
  readonly sandbox?: {
    /** Once the sandbox is up and before the agent starts. */
    readonly onSandboxReady?: readonly SandboxHook[];
  };
}

/**
 * Commands that prepare a run. Each list is run in its order; the first failure stops everything and fails the run.
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
