import type { AgentSessions } from "../agents/contract.ts";
import { type JsonObject, parseObject } from "../tools/json/parseJson.ts";
import { MAX_RECORD_LENGTH } from "./limits.ts";
import { type PathChange, PathRewriter } from "./rewritePaths.ts";

/** What a record holds; nothing, if it is no object, or is too long to be looked into. */
export const recordOf = (json: string): JsonObject =>
  (json.length > MAX_RECORD_LENGTH ? undefined : parseObject(json)) ?? {};

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
