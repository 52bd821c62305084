import type { CommandResult } from "../options/standaloneSandbox.ts";
import type { ExecResult } from "../sandboxes/contract.ts";

/** The result of a command: a tuple with named members that becomes an object in JSON. */
export const commandResult = (
  { exitCode, stdout, stderr }: ExecResult,
  durationMs: number,
): CommandResult => {
  const named = { exitCode, stdout, stderr, durationMs };
  const unpack = () => [exitCode, stdout, stderr] as const;
  const result = Object.assign([exitCode, stdout, stderr] as const, named);
  const methods = { toJSON: { value: () => named }, unpack: { value: unpack } };
  return Object.freeze(Object.defineProperties(result, methods)) as CommandResult;
};
