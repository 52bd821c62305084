import type { AgentSessions } from "../agents/contract.ts";
import { type JsonObject, parseObject } from "../tools/json/parseJson.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";
import { type PathChange, PathRewriter } from "./rewritePaths.ts";

/** The content of a record; empty if it is not an object, or is too long to parse. */
export const recordOf = (json: string): JsonObject =>
  (json.length > MAX_RECORD_LENGTH ? undefined : parseObject(json)) ?? {};

/** Returns the function that rewrites the records of a session for its new `cwd` and its new paths. */
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
