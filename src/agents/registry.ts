import { aider } from "./aider/provider.ts";
import { CLAUDE_CODE_EFFORTS, type ClaudeCodeOptions, claudeCode } from "./claudeCode/provider.ts";
import { CODEX_EFFORTS, type CodexOptions, codex } from "./codex/provider.ts";
import type { AgentProvider } from "./contract.ts";
import { copilot } from "./copilot/provider.ts";
import { cursor } from "./cursor/provider.ts";
import { gemini } from "./gemini/provider.ts";
import { opencode } from "./opencode/provider.ts";
import { PI_EFFORTS, type PiOptions, pi } from "./pi/provider.ts";

/** An agent provider that a name stands for: on the command line, in a scaffold. */
export interface KnownAgent {
  /** What people call the agent. */
  readonly title: string;
  /** The function of sanddune's that makes the provider. */
  readonly factory: string;
  /** A model that it is known to work with. */
  readonly exampleModel: string;
  /** How hard the model can be told to think, from little to much; nothing where that cannot be chosen. */
  readonly efforts?: readonly string[];
  create(model: string, settings?: { readonly effort?: string }): AgentProvider;
}

/** The agents that can be chosen by name. A new agent provider is one entry here. */
export const agentRegistry = {
  "claude-code": {
    title: "Claude Code",
    factory: "claudeCode",
    exampleModel: "claude-opus-4-8",
    efforts: CLAUDE_CODE_EFFORTS,
    create: (model, { effort } = {}) => claudeCode(model, { effort: effort as ClaudeCodeOptions["effort"] }),
  },
  codex: {
    title: "Codex",
    factory: "codex",
    exampleModel: "gpt-6-sol",
    efforts: CODEX_EFFORTS,
    create: (model, { effort } = {}) => codex(model, { effort: effort as CodexOptions["effort"] }),
  },
  opencode: {
    title: "opencode",
    factory: "opencode",
    exampleModel: "anthropic/claude-opus-4-8",
    create: (model) => opencode(model),
  },
  pi: {
    title: "pi",
    factory: "pi",
    exampleModel: "anthropic/claude-opus-4-8",
    efforts: PI_EFFORTS,
    create: (model, { effort } = {}) => pi(model, { thinking: effort as PiOptions["thinking"] }),
  },
  gemini: {
    title: "Gemini CLI",
    factory: "gemini",
    exampleModel: "gemini-2.5-pro",
    create: (model) => gemini(model),
  },
  copilot: {
    title: "GitHub Copilot CLI",
    factory: "copilot",
    exampleModel: "gpt-5.4",
    create: (model) => copilot(model),
  },
  cursor: {
    title: "Cursor",
    factory: "cursor",
    exampleModel: "composer-2",
    create: (model) => cursor(model),
  },
  aider: {
    title: "aider",
    factory: "aider",
    exampleModel: "sonnet",
    create: (model) => aider(model),
  },
} as const satisfies Readonly<Record<string, KnownAgent>>;

export type AgentName = keyof typeof agentRegistry;

/** Agents that are known by name talk to a model; any other program may do without a network. */
export const needsNetwork = (agentName: string): boolean => Object.hasOwn(agentRegistry, agentName);

/** The agent of that name, or `undefined`. */
export const findAgent = (name: string): KnownAgent | undefined =>
  Object.hasOwn(agentRegistry, name) ? agentRegistry[name as AgentName] : undefined;
