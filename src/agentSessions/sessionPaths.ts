/** The paths of a repository on the host and in the sandbox. */
export interface SessionPaths {
  /** The top level of the repository on the host. This path and the next have no symbolic links. */
  readonly hostRoot: string;
  /** The agent's working directory on the host. */
  readonly hostCwd: string;
  /** The top level of the repository in the sandbox. */
  readonly sandboxRoot: string;
  /** The agent's working directory in the sandbox. */
  readonly sandboxCwd: string;
}
