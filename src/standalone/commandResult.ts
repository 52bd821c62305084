import type { ExecResult } from "../sandboxes/contract.ts";
import type { CommandResult } from "../standaloneSandbox.ts";

/** The result of a command as a tuple with names, which as JSON is an object. */
export const commandResult = (
  { exitCode, stdout, stderr }: ExecResult,
  durationMs: number,
): CommandResult => {
  const named = { exitCode, stdout, stderr, durationMs };
  const result = Object.assign([exitCode, stdout, stderr] as const, named);
  return Object.freeze(Object.defineProperty(result, "toJSON", { value: () => named }));
};
