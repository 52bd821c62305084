import { command } from "../../agents/command/provider.ts";
import type { AgentProvider } from "../../agents/contract.ts";
import { agentRegistry, findAgent } from "../../agents/registry.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import { ALIASES, ANY_PROGRAM, agentNames } from "./agentNames.ts";
import type { AgentOverrides } from "./overrides.ts";

/** The agent of a scenario. */
export interface ChosenAgent {
  readonly provider: string;
  /** What steps use that do not name a model; `null` if the agent has none to choose. */
  readonly model: string | null;
  /** The model of a step that names that one. */
  modelFor(stepModel: string | undefined): string | null;
  /** For a step that names that model. */
  create(stepModel?: string): AgentProvider;
}

/** Why there is no such agent. */
export interface NoAgent {
  readonly provider: string;
  readonly model: null;
  readonly manual: string;
}

const DEFAULT_PLATFORM = "cursor";

const anyProgram = (commandLine: string | undefined): ChosenAgent | NoAgent => {
  const named = { provider: ANY_PROGRAM, model: null };
  if (!commandLine?.trim()) {
    return { ...named, manual: "The agent `command` needs a program: pass --agent-command 'sh ./agent.sh'." };
  }
  return { ...named, modelFor: () => null, create: () => command(commandLine) };
};

/** Which agent does a scenario's steps: by `ide_platform`, unless something else was said for all. */
export const chooseAgent = (
  platform: string | undefined,
  overrides: AgentOverrides,
): ChosenAgent | NoAgent => {
  const name = overrides.agent ?? platform ?? DEFAULT_PLATFORM;
  const provider = Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name;
  if (provider === ANY_PROGRAM) return anyProgram(overrides.agentCommand);
  const known = findAgent(provider);
  if (known === undefined) {
    const names = Object.keys(agentRegistry).join(", ");
    const manual = `There is no agent ${JSON.stringify(provider)} in sanddune.${didYouMean(provider, agentNames)} Let another one do it with --agent (${names}), or do it by hand.`;
    return { provider, model: null, manual };
  }
  const modelOf = (stepModel?: string) =>
    overrides.model ?? stepModel ?? overrides.defaultModel ?? known.exampleModel;
  return {
    ...{ provider, model: modelOf(), modelFor: modelOf },
    create: (stepModel) => known.create(modelOf(stepModel)),
  };
};
