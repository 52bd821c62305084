import type { AgentProvider } from "../../agents/contract.ts";
import { agentRegistry, findAgent } from "../../agents/registry.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import type { ScenarioRunOptions } from "../contract.ts";
import { ALIASES, ANY_PROGRAM, agentNames } from "./agentNames.ts";

/** What takes precedence over a scenario's page. */
export type AgentOptions = Pick<ScenarioRunOptions, "agent" | "model" | "defaultModel">;

export interface ChosenAgent {
  readonly provider: string;
  /** The model of steps that name none; `null` if the agent has no choice of models. */
  readonly model: string | null;
  modelFor(stepModel: string | undefined): string | null;
  /** The agent provider for a step that names `stepModel`. */
  create(stepModel?: string): AgentProvider;
}

/** Why a scenario has no agent. */
export interface NoAgent {
  readonly provider: string;
  readonly model: null;
  readonly manual: string;
}

const DEFAULT_PLATFORM = "cursor";

const noAgent = (provider: string, manual: string): NoAgent => ({ provider, model: null, manual });

const givenAgent = (agent: AgentProvider): ChosenAgent => {
  const model = agent.model ?? null;
  return { provider: agent.name, model, modelFor: () => model, create: () => agent };
};

/** Chooses the agent of a scenario: by its `ide_platform`, unless the options name an agent for all scenarios. */
export const chooseAgent = (platform: string | undefined, options: AgentOptions): ChosenAgent | NoAgent => {
  const { agent = platform ?? DEFAULT_PLATFORM, model, defaultModel } = options;
  if (typeof agent !== "string") return givenAgent(agent);
  const provider = Object.hasOwn(ALIASES, agent) ? (ALIASES[agent] as string) : agent;
  if (provider === ANY_PROGRAM) {
    return noAgent(provider, "The agent `command` needs a program: pass --agent-command 'sh ./agent.sh'.");
  }
  const known = findAgent(provider);
  if (known === undefined) {
    const names = Object.keys(agentRegistry).join(", ");
    return noAgent(
      provider,
      `There is no agent ${JSON.stringify(provider)} in sanddune.${didYouMean(provider, agentNames)} Let another one do it with --agent (${names}), or do it by hand.`,
    );
  }
  const modelOf = (stepModel?: string) => model ?? stepModel ?? defaultModel ?? known.exampleModel;
  return {
    ...{ provider, model: modelOf(), modelFor: modelOf },
    create: (stepModel) => known.create(modelOf(stepModel)),
  };
};
