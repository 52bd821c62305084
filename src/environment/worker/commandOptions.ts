import { anyText, type Check, type Checks, milliseconds, textByName } from "../../options/checks/checks.ts";
import type { TestCommandOptions } from "../definition/definition.ts";

/** A string can hold more, but a worker should not. */
const MAX_CAPTURE_BYTES = 256 * 1024 * 1024;

const captureBytes: Check = (value) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_CAPTURE_BYTES
    ? undefined
    : `must be a whole number from 1 to ${MAX_CAPTURE_BYTES}`;

/** The options of `run()` in a test. */
export const COMMAND_OPTIONS: Checks<TestCommandOptions> = {
  cwd: anyText,
  env: textByName,
  stdin: anyText,
  timeoutMs: milliseconds,
  captureBytes,
};
