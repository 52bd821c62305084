import { InvalidOptionsError } from "../../errors.ts";
import { agent as provider } from "../../options/checks/agent.ts";
import {
  type Check,
  type Checks,
  callback,
  checkedOptions,
  count,
  didYouMean,
  flag,
  milliseconds,
  names,
  oneOf,
  text,
} from "../../options/checks/checks.ts";
import { isAddress } from "../../options/checks/mcpServers.ts";
import { sandbox as sandboxProvider } from "../../options/checks/sandbox.ts";
import { signal } from "../../options/checks/session.ts";
import { agentNames } from "../agents/agentNames.ts";
import type { ScenarioRunOptions, ScenarioSandboxes } from "../contract.ts";
import { RUNNABLE_FILTERS } from "./executions.ts";

const agent: Check = (value) => {
  if (typeof value !== "string") return provider(value);
  if (agentNames.includes(value)) return undefined;
  return `there is no agent ${JSON.stringify(value)}; expected one of: ${agentNames.join(", ")}.${didYouMean(value, agentNames)}`;
};

const sandboxOrHost: Check = (value) => {
  const problem = value === "none" ? undefined : sandboxProvider(value);
  return problem && `${problem}, or "none" for this machine`;
};

/** Addresses are shown in records and on pages. */
const address: Check = (value) => {
  if (typeof value !== "string") return "must be an address that begins with http:// or https://";
  return isAddress(value)
    ? undefined
    : `${JSON.stringify(value)} is not an address that begins with http:// or https://`;
};

const OPTIONS: Checks<ScenarioRunOptions> = {
  cwd: text,
  config: text,
  scenarioDir: text,
  recordsDir: text,
  // An empty list is usually an unset variable: it must not select all scenarios.
  only: (value) => names(value) ?? ((value as string[]).length > 0 ? undefined : "must not be empty"),
  runnable: oneOf(RUNNABLE_FILTERS),
  agent,
  model: text,
  defaultModel: text,
  agentTimeoutMs: milliseconds,
  sandbox: (value) => (typeof value === "function" ? undefined : sandboxOrHost(value)),
  baseUrl: address,
  concurrency: count,
  repeat: count,
  keepProjects: flag,
  keepRecords: count,
  ciUrl: address,
  dryRun: flag,
  signal,
  onProgress: callback,
};

/** A copy of the options, checked. */
export const checkRunOptions = (options: ScenarioRunOptions): ScenarioRunOptions => {
  const checked = checkedOptions(options, OPTIONS);
  const { agent: chosen, model, defaultModel } = checked;
  if (typeof chosen === "object" && (model ?? defaultModel) !== undefined) {
    throw new InvalidOptionsError(
      model === undefined ? "defaultModel" : "model",
      `the agent provider ${chosen.name} has its own model; leave this out, or pass the agent's name`,
    );
  }
  return checked;
};

const SANDBOXES: Checks<ScenarioSandboxes> = { cli: sandboxOrHost, agent: sandboxOrHost };

/** What the `sandbox` function has returned, checked. */
export const checkSandboxes = (sandboxes: ScenarioSandboxes): ScenarioSandboxes =>
  checkedOptions(sandboxes, SANDBOXES, ["cli"]);
