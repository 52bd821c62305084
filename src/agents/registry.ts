import { aiderAgent } from "./aider/provider.ts";
import { claudeCodeAgent } from "./claudeCode/provider.ts";
import { codexAgent } from "./codex/provider.ts";
import { copilotAgent } from "./copilot/provider.ts";
import { cursorAgent } from "./cursor/provider.ts";
import { geminiAgent } from "./gemini/provider.ts";
import { opencodeAgent } from "./opencode/provider.ts";
import { piAgent } from "./pi/provider.ts";
import type { KnownAgent } from "./shared/knownAgent.ts";

export type { KnownAgent };

/** The agents that can be chosen by name. */
export const agentRegistry = {
  "claude-code": claudeCodeAgent,
  codex: codexAgent,
  opencode: opencodeAgent,
  pi: piAgent,
  gemini: geminiAgent,
  copilot: copilotAgent,
  cursor: cursorAgent,
  aider: aiderAgent,
} as const satisfies Readonly<Record<string, KnownAgent>>;

export type AgentName = keyof typeof agentRegistry;

/** The agents in the registry talk to a model; any other program may work without a network. */
export const needsNetwork = (agentName: string): boolean => Object.hasOwn(agentRegistry, agentName);

export const findAgent = (name: string): KnownAgent | undefined =>
  Object.hasOwn(agentRegistry, name) ? agentRegistry[name as AgentName] : undefined;
