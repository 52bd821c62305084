import type { IterationUsage } from "../../options/results.ts";

/** The directory in which an agent keeps its files, on the host and in a sandbox. */
export interface SessionDirectory {
  /** The env var that names it, if there is one. */
  readonly variable?: string;
  /** Its path below the home directory, where no variable names another. */
  readonly inHome: string;
}

/**
 * Where an agent keeps its sessions, so that they can be copied to the host and into a sandbox. All paths are relative to its
 * directory.
 */
export interface AgentSessions {
  readonly directory: SessionDirectory;
  /** The files of a session, the main one first. `*` matches any part of a name. */
  files(sessionId: string): readonly string[];
  /**
   * Files that belong to the session but do not have its id in their names, such as those of subagents. They match a pattern,
   * and their first line contains a text.
   */
  related?(sessionId: string): { readonly pattern: string; readonly firstLineHolds: string };
  /** The place of a session's file for an agent that works in `cwd`, a path without symbolic links. */
  place(file: string, cwd: string): string;
  /**
   * The record with `cwd` as the working directory, if the agent reads its working directory from this record. Other paths in
   * it have been rewritten before.
   */
  withCwd?(record: Readonly<Record<string, unknown>>, cwd: string): object | undefined;
  /** Keys whose values are signed or encrypted: paths in them must not be rewritten. */
  readonly sealedKeys?: readonly string[];
  /** The total usage of the session, if this record has it. */
  usedInAll?(record: Readonly<Record<string, unknown>>): IterationUsage | undefined;
  /**
   * Whether the text `after` is a later state of the session's file than `before`. Left out for agents that only append to the
   * file.
   */
  continues?(before: string, after: string): boolean;
  /** Fork a session by a copy with another id: the agent's own forks need the files of the original session. */
  readonly forksByCopy?: boolean;
  /** A line for `sh`, run in the agent's working directory, that writes the session to its files. For agents with a database. */
  exportCommand?(sessionId: string): string;
  /** The reverse, run when the files are in place. */
  importCommand?(sessionId: string): string;
}
