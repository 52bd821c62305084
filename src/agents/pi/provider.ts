import { type Checks, oneOf } from "../../options/checks/checks.ts";
import { shellLine } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  keysFor,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { PI_MCP_EXTENSION_FILE, piMcp } from "./mcp.ts";
import { piParser } from "./output.ts";
import { piSessions } from "./sessions.ts";

const EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const ENV_KEYS = {
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
} as const;

/** Env vars that pi reads its credentials and settings from. */
export type PiEnvKey = (typeof ENV_KEYS)[keyof typeof ENV_KEYS][number];

/** The options of `pi()`. */
export interface PiOptions extends SessionAgentOptions {
  /** How long the model may think. */
  readonly thinking?: (typeof EFFORTS)[number];
}

const OPTIONS: Checks<PiOptions> = {
  ...SESSION_AGENT_OPTIONS,
  thinking: oneOf(EFFORTS),
};

const QUIET = { PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };

/**
 * pi, `pi`. A model is named together with its provider.
 *
 * @example
 * await run({ agent: pi("anthropic/claude-opus-4-8", { thinking: "high" }), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const pi = (model: string, options: PiOptions = {}): AgentProvider<PiEnvKey> => {
  const { thinking, captureSessions = true, env } = checkedArguments(model, options, OPTIONS);
  const settings = ["--model", model, ...(thinking === undefined ? [] : ["--thinking", thinking])];
  return {
    name: "pi",
    model,
    env: declareEnv(keysFor(model, ENV_KEYS), env),
    reportsResult: true,
    reportsUsage: "perCall",
    acceptsMcpServers: true,
    captureSessions,
    sessions: piSessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const command = [
        ...["pi", "-p", "--mode", "json", ...settings],
        ...(resume === undefined ? [] : [resume.isFork ? "--fork" : "--session", resume.sessionId]),
      ];
      if (mcpServers === undefined) return { command, stdin: prompt, env: QUIET };
      const mcp = piMcp(mcpServers);
      return {
        command: `${shellLine(command)} --extension ${PI_MCP_EXTENSION_FILE}`,
        stdin: prompt,
        env: { ...QUIET, ...mcp.env },
        setup: mcp.setup,
      };
    },
    createParser: piParser,
    // pi never asks for permissions.
    interactiveCommand: ({ prompt }) => ({
      // pi would take a word that begins with @ for a file.
      command: ["pi", ...settings, ...(prompt === undefined ? [] : ["--", prompt.replace(/^@/, " @")])],
    }),
    installation: {
      versionCommand: ["pi", "--version"],
      dockerfile: ["RUN npm install --global @earendil-works/pi-coding-agent@0.87.1"],
      credentials: keysFor(model, ENV_KEYS),
    },
  };
};

export const piAgent: KnownAgent = {
  title: "pi",
  factory: "pi",
  exampleModel: "anthropic/claude-opus-4-8",
  efforts: EFFORTS,
  create: (model, { effort } = {}) => pi(model, { thinking: effort as PiOptions["thinking"] }),
};
