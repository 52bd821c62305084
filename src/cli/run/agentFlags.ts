import { command } from "../../agents/command/provider.ts";
import type { AgentProvider } from "../../agents/contract.ts";
import { agentRegistry, type KnownAgent } from "../../agents/registry.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { UsageError } from "../shared/usageError.ts";
import { type Choices, lookUp, type Said } from "./runDefaults.ts";

/** Settings of an agent that only the command line has. */
export interface AgentFlags {
  readonly effort?: string;
  readonly captureSessions?: boolean;
}

interface AgentEntry {
  create(choices: Choices, effort: string | undefined): AgentProvider;
}

const known: Readonly<Record<string, KnownAgent>> = agentRegistry;

export const effortNames: readonly string[] = [
  ...new Set(Object.values(known).flatMap(({ efforts }) => efforts ?? [])),
];

const effortRefused = (title: string): UsageError => {
  const others = Object.entries(known).filter(([, { efforts }]) => efforts !== undefined);
  const names = others.map(([name]) => name).join(", ");
  return new UsageError(`--effort: ${title} has no such setting. Agents with it: ${names}`);
};

const withModel = ({ title, exampleModel, efforts, create }: KnownAgent): AgentEntry => ({
  create: ({ model, agentCommand }, effort) => {
    if (agentCommand !== undefined) throw agentCommand.refuse("it applies to the agent `command` only");
    if (model === undefined) throw new UsageError(`--model is missing, e.g. --model ${exampleModel}`);
    if (effort !== undefined && efforts === undefined) throw effortRefused(title);
    try {
      return create(model.value, { effort });
    } catch (error) {
      if (error instanceof InvalidOptionsError && error.option === "model") throw model.refuse(error.problem);
      throw error;
    }
  },
});

const commandLineOf = (said: Said | undefined): string => {
  if (said === undefined) {
    throw new UsageError(
      "--agent command needs the command line to run, e.g. --agent-command 'sh ./agent.sh'",
    );
  }
  if (said.value.trim() === "") throw said.refuse("it is empty. Write a command line, e.g. 'sh ./agent.sh'");
  return said.value;
};

const anyProgram: AgentEntry = {
  create: ({ agentCommand, model }, effort) => {
    const commandLine = commandLineOf(agentCommand);
    if (model !== undefined) throw model.refuse("the agent command has no model");
    if (effort !== undefined) throw effortRefused("a command");
    return command(commandLine);
  },
};

const agentEntries: Readonly<Record<string, AgentEntry>> = {
  ...Object.fromEntries(Object.entries(known).map(([name, agent]) => [name, withModel(agent)])),
  command: anyProgram,
};

/** The agents of the command line: the built-in ones, and any program. */
export const agentNames: readonly string[] = Object.keys(agentEntries);

/** The agent that was chosen. */
export const createAgent = (choices: Choices, { effort, captureSessions }: AgentFlags): AgentProvider => {
  const agent = lookUp(agentEntries, "--agent", choices.agent).create(choices, effort);
  return captureSessions === false ? { ...agent, captureSessions } : agent;
};
