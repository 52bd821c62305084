/** Why the result of hooks is not kept. It never fails a run: the run log has it, and the warnings if the hooks are the reason. */
export class NotKeptError extends Error {
  override readonly name = "NotKeptError";
}

/** A `latin1` path as text for people. */
export const displayPath = (path: string): string => Buffer.from(path, "latin1").toString("utf8");
