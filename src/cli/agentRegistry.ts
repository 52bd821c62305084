import { command } from "../agents/command.ts";
import type { AgentProvider } from "../agents/contract.ts";
import { UsageError } from "./usageError.ts";

/** What the command line can say about an agent. */
export interface AgentFlags {
  readonly agentCommand?: string;
}

interface AgentEntry {
  /** One line of the help. */
  readonly summary: string;
  create(flags: AgentFlags): AgentProvider;
}

/** The agents of the command line. A new agent provider is one entry here. */
export const agentRegistry: Readonly<Record<string, AgentEntry>> = {
  command: {
    summary: "the program of --agent-command, with the prompt on its stdin",
    create: ({ agentCommand }) => {
      if (agentCommand === undefined || agentCommand.trim() === "") {
        throw new UsageError(
          "--agent command needs the command line to run, e.g. --agent-command 'sh ./agent.sh'",
        );
      }
      return command(agentCommand);
    },
  },
};
