import { command } from "../../agents/command/provider.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import { ALIASES, ANY_PROGRAM } from "../../scenarios/agents/agentNames.ts";
import type { ScenarioRunOptions } from "../../scenarios/contract.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import { agentNames } from "../run/agentFlags.ts";
import { UsageError } from "../shared/usageError.ts";

/** The flags that choose the agent of all scenarios. */
export interface AgentFlags {
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
}

type AgentOptions = Pick<ScenarioRunOptions, "agent" | "model" | "defaultModel" | "agentTimeoutMs">;

const PROVIDER_VARIABLE = "SANDDUNE_AGENT_PROVIDER";
const MODEL_VARIABLE = "SANDDUNE_AGENT_MODEL";
const TIMEOUT_VARIABLE = "SANDDUNE_AGENT_TIMEOUT_MS";

const NO_PROGRAM = "needs a program: pass --agent-command 'sh ./agent.sh'";

const timeoutOf = (text: string | undefined): number | undefined => {
  if (!text) return undefined;
  const timeoutMs = Number(text);
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS) return timeoutMs;
  throw new InvalidOptionsError(
    TIMEOUT_VARIABLE,
    `${JSON.stringify(text)} is not a time limit. Set it to a whole number of milliseconds, at most ${MAX_TIMER_MS}, e.g. 600000.`,
  );
};

/** The names of pages are understood, too. */
const NAMES = [...agentNames, ...Object.keys(ALIASES)];

/** A misspelt name must not make all scenarios manual, which is not a failure. */
const unknownAgent = (name: string): string =>
  `there is no agent ${JSON.stringify(name)}; expected one of: ${NAMES.join(", ")}.${didYouMean(name, NAMES)}`;

const chosenAgent = ({ agent, agentCommand }: AgentFlags, env: NodeJS.ProcessEnv): string | undefined => {
  if (agent !== undefined) {
    if (!NAMES.includes(agent)) throw new UsageError(`--agent: ${unknownAgent(agent)}`);
    if (agent === ANY_PROGRAM && agentCommand === undefined)
      throw new UsageError(`--agent ${ANY_PROGRAM} ${NO_PROGRAM}`);
    return agent;
  }
  if (agentCommand !== undefined) return ANY_PROGRAM;
  const name = env[PROVIDER_VARIABLE] || undefined;
  if (name === undefined) return undefined;
  if (!NAMES.includes(name)) throw new InvalidOptionsError(PROVIDER_VARIABLE, unknownAgent(name), NAMES);
  if (name === ANY_PROGRAM)
    throw new InvalidOptionsError(PROVIDER_VARIABLE, `the agent ${ANY_PROGRAM} ${NO_PROGRAM}.`);
  return name;
};

/** The agent that flags and env vars choose for all scenarios. Flags win over env vars. */
export const agentOptionsOf = (flags: AgentFlags, env: NodeJS.ProcessEnv): AgentOptions => {
  const agent = chosenAgent(flags, env);
  const agentTimeoutMs = timeoutOf(env[TIMEOUT_VARIABLE]);
  if (agent !== ANY_PROGRAM) {
    return { agent, model: flags.model, defaultModel: env[MODEL_VARIABLE] || undefined, agentTimeoutMs };
  }
  if (!flags.agentCommand?.trim())
    throw new UsageError("--agent-command: it is empty. Write a command line, e.g. 'sh ./agent.sh'");
  return { agent: command(flags.agentCommand), agentTimeoutMs };
};
