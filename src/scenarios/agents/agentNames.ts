import { agentRegistry } from "../../agents/registry.ts";

/** Names that scenario pages have for agents, besides those of the registry. */
export const ALIASES: Readonly<Record<string, string>> = { claude: "claude-code" };

/** The name of an agent that is any program. */
export const ANY_PROGRAM = "command";

/** The names of agents in pages and options. */
export const agentNames: readonly string[] = [...Object.keys(agentRegistry), ...Object.keys(ALIASES)];
