import {
  type Check,
  callback,
  count,
  flag,
  members,
  milliseconds,
  nested,
  text,
} from "../engine/optionChecks.ts";
import * as value from "../engine/valueChecks.ts";
import { InvalidOptionsError } from "../errors.ts";
import type { SandboxCapabilities } from "../sandboxes/contract.ts";
import type { SandboxCommandOptions, SandboxHandleOptions } from "../standaloneSandbox.ts";

type Table<Options> = Record<keyof Options, Check>;

const NEEDS: Table<SandboxCapabilities> = {
  sudo: flag,
  terminal: flag,
  liveInput: flag,
  extension: flag,
  networkPolicy: (given) =>
    ["none", "on-off", "domains"].includes(given as string)
      ? undefined
      : 'must be "none", "on-off" or "domains"',
};

const HANDLE: Table<SandboxHandleOptions> = {
  env: value.env,
  usesSudo: flag,
  needs: nested("needs", NEEDS),
  signal: value.signal,
};

const COMMAND: Table<SandboxCommandOptions> = {
  cwd: text,
  env: value.commandEnv,
  stdin: value.execInput,
  sudo: flag,
  timeoutMs: milliseconds,
  signal: value.signal,
  onLine: callback,
  onStderrLine: callback,
  captureBytes: count,
};

const check = (option: string, given: unknown, checkValue: Check): void => {
  const problem = checkValue(given);
  if (problem !== undefined) throw new InvalidOptionsError(option, problem);
};

export const validateHandle = (provider: unknown, options: SandboxHandleOptions): void => {
  check("provider", provider, value.sandbox);
  members("options", options, HANDLE);
};

export const validateCommand = (command: unknown, options: SandboxCommandOptions): void => {
  check("command", command, text);
  members("options", options, COMMAND);
};

export const validateContent = (content: unknown): void =>
  check("content", content, (given) =>
    typeof given === "string" || given instanceof Uint8Array ? undefined : "must be a string or bytes",
  );
