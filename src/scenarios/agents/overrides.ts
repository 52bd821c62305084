import { InvalidOptionsError } from "../../errors.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import { ANY_PROGRAM, agentNames } from "./agentNames.ts";

/** What the command line says about the agent, for all scenarios. */
export interface AgentFlags {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  readonly agentCommand?: string | undefined;
}

/** What holds instead of what the scenarios say. */
export interface AgentOverrides {
  readonly agent: string | undefined;
  readonly agentCommand: string | undefined;
  /** For every step. */
  readonly model: string | undefined;
  /** For steps that do not name one. */
  readonly defaultModel: string | undefined;
  /** For steps that have no limit of their own. */
  readonly timeoutMs: number;
}

const PROVIDER_VARIABLE = "SANDDUNE_AGENT_PROVIDER";
const MODEL_VARIABLE = "SANDDUNE_AGENT_MODEL";
const TIMEOUT_VARIABLE = "SANDDUNE_AGENT_TIMEOUT_MS";

const DEFAULT_TIMEOUT_MS = 10 * 60_000;

const timeoutOf = (text: string | undefined): number => {
  if (!text) return DEFAULT_TIMEOUT_MS;
  const timeoutMs = Number(text);
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return timeoutMs;
  throw new InvalidOptionsError(
    TIMEOUT_VARIABLE,
    `${JSON.stringify(text)} is not a time limit. Set it to a whole number of milliseconds, e.g. ${DEFAULT_TIMEOUT_MS}.`,
  );
};

/** A slip of the pen here would make all scenarios manual, which is not a failure. */
const providerOf = (name: string | undefined, { agentCommand }: AgentFlags): string | undefined => {
  if (!name) return undefined;
  if (!agentNames.includes(name)) {
    throw new InvalidOptionsError(
      PROVIDER_VARIABLE,
      `there is no agent ${JSON.stringify(name)}; expected one of: ${agentNames.join(", ")}.${didYouMean(name, agentNames)}`,
      agentNames,
    );
  }
  if (name === ANY_PROGRAM && !agentCommand) {
    throw new InvalidOptionsError(
      PROVIDER_VARIABLE,
      `the agent ${ANY_PROGRAM} needs a program: pass --agent-command 'sh ./agent.sh'.`,
    );
  }
  return name;
};

/** Flags win over env vars. */
export const readOverrides = (flags: AgentFlags, env: NodeJS.ProcessEnv): AgentOverrides => ({
  agent: flags.agent ?? providerOf(env[PROVIDER_VARIABLE], flags),
  agentCommand: flags.agentCommand,
  model: flags.model,
  defaultModel: env[MODEL_VARIABLE] || undefined,
  timeoutMs: timeoutOf(env[TIMEOUT_VARIABLE]),
});
