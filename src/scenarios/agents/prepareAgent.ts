import type { ResolvedEnv } from "../../envVars/envValues.ts";
import type { ScenarioRunOptions, ScenarioSandboxes } from "../contract.ts";
import { isAgentStep, type ScenarioSpec } from "../spec.ts";
import type { ScenarioSuite } from "../suite/suite.ts";
import { readAgentEnv } from "./agentEnv.ts";
import type { AgentSetup } from "./agentSetup.ts";
import { type AgentOptions, type ChosenAgent, chooseAgent } from "./chooseAgent.ts";
import { findCursorSdk } from "./cursorSdk.ts";

export interface AgentSetupOptions extends AgentOptions, Pick<ScenarioRunOptions, "agentTimeoutMs"> {
  readonly suite: ScenarioSuite;
  readonly sandbox: ScenarioSandboxes["agent"];
  readonly signal: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

const NO_SANDBOX =
  "An agent needs a sandbox. Pass --sandbox docker, podman or bubblewrap; or --sandbox none, to let it work on this machine itself.";

/** The agent providers of the steps: the same agent with different models. */
const agentsFor = (chosen: ChosenAgent, { steps = [] }: ScenarioSpec) =>
  steps.filter(isAgentStep).map(({ model }) => chosen.create(model));

/** The models of the steps in order, separated by commas if they differ. */
const modelsOf = (chosen: ChosenAgent, { steps = [] }: ScenarioSpec): string | null => {
  const models = steps.filter(isAgentStep).map(({ model }) => chosen.modelFor(model));
  return [...new Set(models)].filter((model) => model !== null).join(", ") || chosen.model;
};

/** The keys of which the agent needs one; empty if one of them has a value, or none is needed. */
const missingKeys = (agents: ReturnType<typeof agentsFor>, { values }: ResolvedEnv): readonly string[] =>
  agents
    .map(({ installation }) => installation?.credentials ?? [])
    .find((keys) => keys.length > 0 && !keys.some((key) => values[key])) ?? [];

const withCursorSdk = (env: ResolvedEnv, root: string): ResolvedEnv => {
  const directory = process.env["CURSOR_SDK"] || findCursorSdk(root);
  return directory === undefined ? env : { ...env, values: { CURSOR_SDK: directory, ...env.values } };
};

/**
 * Chooses the agent of a scenario and finds out whether it is available. Starts nothing. Rejects if the suite itself is
 * wrong, for instance with an env file that git tracks.
 */
export const prepareAgent = async (spec: ScenarioSpec, options: AgentSetupOptions): Promise<AgentSetup> => {
  const { suite, sandbox, signal, agentTimeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const chosen = chooseAgent(spec.ide_platform, options);
  const { provider } = chosen;
  const model = "manual" in chosen ? null : modelsOf(chosen, spec);
  const absent = (manual: string): AgentSetup => ({ provider, model, secrets: new Map(), manual });
  if ("manual" in chosen) return absent(chosen.manual);
  if (sandbox === undefined) return absent(NO_SANDBOX);
  const agents = agentsFor(chosen, spec);
  const isHost = sandbox === "none";
  const env = await readAgentEnv(suite.root, agents, isHost ? {} : (sandbox.env ?? {}), signal);
  // On the host, the agent may be logged in.
  const [key, ...others] = isHost ? [] : missingKeys(agents, env);
  if (key !== undefined) {
    return absent(
      `The agent ${provider} needs ${[key, ...others].join(" or ")}, and neither .sanddune/.env nor the environment has a value. Set it: export ${key}=…`,
    );
  }
  return {
    ...{ provider, model, secrets: env.secrets },
    agentFor: (step) => chosen.create(step.model),
    env: isHost && provider === "cursor" ? withCursorSdk(env, suite.root) : env,
    timeoutMs: agentTimeoutMs,
  };
};
