/** A repository, on the host and in the sandbox. */
export interface SessionPaths {
  /** The top of the repository, on the host. It and the next are paths without symbolic links. */
  readonly hostRoot: string;
  /** Where the agent would work on the host. */
  readonly hostCwd: string;
  /** The top of the repository, in the sandbox. */
  readonly sandboxRoot: string;
  /** Where the agent works in the sandbox. */
  readonly sandboxCwd: string;
}
