import type { AgentSessions } from "../agents/contract.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";
import { type PathChange, PathRewriter } from "./rewritePaths.ts";

/** What a record holds; nothing, if it is no object, or is too long to be looked into. */
export const recordOf = (json: string): Readonly<Record<string, unknown>> => {
  if (json.length > MAX_RECORD_LENGTH) return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** Makes what changes the records of a session for somebody who works in `cwd`, where other paths have moved to. */
export const recordRewriter = (
  { sealedKeys, withCwd }: AgentSessions,
  moves: readonly PathChange[],
  cwd: string,
): ((json: string) => string) => {
  const rewriter = new PathRewriter(moves, sealedKeys);
  return (json) => {
    const moved = rewriter.json(json);
    const record = withCwd?.(recordOf(moved), cwd);
    return record === undefined ? moved : JSON.stringify(record);
  };
};
