import { agentRegistry } from "../../agents/registry.ts";

/** Names that scenarios have for agents, besides those of the registry. */
export const ALIASES: Readonly<Record<string, string>> = { claude: "claude-code" };

/** Any program, which the command line names. */
export const ANY_PROGRAM = "command";

/** Everything that can be said where an agent is chosen for all scenarios. */
export const agentNames: readonly string[] = [
  ...Object.keys(agentRegistry),
  ...Object.keys(ALIASES),
  ANY_PROGRAM,
];
