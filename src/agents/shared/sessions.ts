import type { IterationUsage } from "../../options/results.ts";

/** The directory in which an agent keeps what is its own, on the host as in a sandbox. */
export interface SessionDirectory {
  /** The env var that names it, if there is one. */
  readonly variable?: string;
  /** Where it is when no variable names it, below the home directory. */
  readonly inHome: string;
}

/**
 * Where an agent keeps its sessions, so that they can be brought to the host and into a sandbox. All paths are relative
 * to its directory.
 */
export interface AgentSessions {
  readonly directory: SessionDirectory;
  /**
   * The files of a session, the one that stands for it first. `*` stands for anything within one name.
   */
  files(sessionId: string): readonly string[];
  /**
   * Files that belong to the session, but do not have its id in their names: those of subagents. They match a pattern,
   * and their first line holds a text.
   */
  related?(sessionId: string): { readonly pattern: string; readonly firstLineHolds: string };
  /** Where a file of the session belongs when the agent works in `cwd`, a path without symbolic links. */
  place(file: string, cwd: string): string;
  /**
   * A record with the directory that the agent is to work in, if this record says so and the agent goes by it. What it
   * holds of other paths has been moved before.
   */
  withCwd?(record: Readonly<Record<string, unknown>>, cwd: string): object | undefined;
  /** Keys below which values are signed or encrypted, so that no path in them may be changed. */
  readonly sealedKeys?: readonly string[];
  /** What the session has used in all, if this record of it tells. */
  usedInAll?(record: Readonly<Record<string, unknown>>): IterationUsage | undefined;
  /**
   * Whether one state of a session's file, as text, is what became of another one. When it is left out, agents add to the
   * end of it, and change nothing of what is there.
   */
  continues?(before: string, after: string): boolean;
  /** The agent's own fork needs the files of the session that it was forked from: it is made by a copy with another id. */
  readonly forksByCopy?: boolean;
  /** A line for `sh`, run where the agent works, that writes the session into its files: for agents with a database. */
  exportCommand?(sessionId: string): string;
  /** The reverse, when the files have been put in place. */
  importCommand?(sessionId: string): string;
}
