import { type Checks, checkValue, flag, members, nested, text } from "../options/checks/checks.ts";
import { EXEC } from "../options/checks/entryPoints.ts";
import { env } from "../options/checks/envVars.ts";
import { sandbox } from "../options/checks/sandbox.ts";
import { signal } from "../options/checks/session.ts";
import type { SandboxCommandOptions, StandaloneSandboxOptions } from "../options/standaloneSandbox.ts";
import { CAPABILITIES } from "../sandboxes/providerDefinition.ts";

const SANDBOX: Checks<StandaloneSandboxOptions> = {
  env,
  usesSudo: flag,
  needs: nested("needs", CAPABILITIES),
  signal,
};

const COMMAND: Checks<SandboxCommandOptions> = { ...EXEC, sudo: flag };

export const validateSandbox = (provider: unknown, options: StandaloneSandboxOptions): void => {
  checkValue("provider", provider, sandbox);
  members("options", options, SANDBOX);
};

export const validateCommand = (command: unknown, options: SandboxCommandOptions): void => {
  checkValue("command", command, text);
  members("options", options, COMMAND);
};

export const validateContent = (content: unknown): void =>
  checkValue("content", content, (given) =>
    typeof given === "string" || given instanceof Uint8Array ? undefined : "must be a string or bytes",
  );
