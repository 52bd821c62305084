import {
  type Checks,
  callback,
  checkValue,
  count,
  flag,
  members,
  milliseconds,
  nested,
  text,
} from "../options/checks/checks.ts";
import * as value from "../options/checks/values.ts";
import type { SandboxCommandOptions, StandaloneSandboxOptions } from "../options/standaloneSandbox.ts";
import { CAPABILITIES } from "../sandboxes/providerDefinition.ts";

const HANDLE: Checks<StandaloneSandboxOptions> = {
  env: value.env,
  usesSudo: flag,
  needs: nested("needs", CAPABILITIES),
  signal: value.signal,
};

const COMMAND: Checks<SandboxCommandOptions> = {
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

export const validateHandle = (provider: unknown, options: StandaloneSandboxOptions): void => {
  checkValue("provider", provider, value.sandbox);
  members("options", options, HANDLE);
};

export const validateCommand = (command: unknown, options: SandboxCommandOptions): void => {
  checkValue("command", command, text);
  members("options", options, COMMAND);
};

export const validateContent = (content: unknown): void =>
  checkValue("content", content, (given) =>
    typeof given === "string" || given instanceof Uint8Array ? undefined : "must be a string or bytes",
  );
