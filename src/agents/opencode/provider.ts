import type { AgentProvider, McpServers } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  keysFor,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { mcpFile } from "../shared/mcpFile.ts";
import { mapServers } from "../shared/mcpServers.ts";
import { opencodeParser } from "./output.ts";
import { opencodeSessions } from "./sessions.ts";

const ENV_KEYS = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  opencode: ["OPENCODE_API_KEY"],
} as const;

/** Env vars that opencode reads its credentials and settings from. */
export type OpencodeEnvKey = (typeof ENV_KEYS)[keyof typeof ENV_KEYS][number];

/** The options of `opencode()`. */
export interface OpencodeOptions extends SessionAgentOptions {}

const QUIET = { OPENCODE_DISABLE_AUTOUPDATE: "1" };

/** opencode reads the file that this variable names, besides its others. */
const mcpConfig = (servers: McpServers) => {
  const mcp = mapServers<object>(servers, {
    stdio: ({ command, args = [], env = {} }) => ({
      type: "local",
      enabled: true,
      command: [command, ...args],
      environment: env,
    }),
    http: (server) => ({ type: "remote", enabled: true, ...server }),
  });
  return mcpFile({ mcp }, "OPENCODE_CONFIG");
};

/**
 * opencode, `opencode`. A model is named together with its provider.
 *
 * @example
 * await run({ agent: opencode("anthropic/claude-opus-4-8"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const opencode = (model: string, options: OpencodeOptions = {}): AgentProvider<OpencodeEnvKey> => {
  const { captureSessions = true, env } = checkedArguments(model, options, SESSION_AGENT_OPTIONS);
  return {
    name: "opencode",
    model,
    env: declareEnv(keysFor(model, ENV_KEYS), env),
    reportsResult: true,
    reportsUsage: "perCall",
    acceptsMcpServers: true,
    captureSessions,
    sessions: opencodeSessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const mcp = mcpServers && mcpConfig(mcpServers);
      return {
        command: [
          ...["opencode", "run", "--format", "json", "--auto", "-m", model],
          // opencode reports errors after which it retries only in its log.
          ...["--print-logs", "--log-level", "ERROR"],
          ...(resume === undefined ? [] : ["-s", resume.sessionId]),
          ...(resume?.isFork ? ["--fork"] : []),
        ],
        stdin: prompt,
        env: { ...QUIET, ...mcp?.env },
        ...(mcp && { setup: mcp.setup }),
      };
    },
    createParser: opencodeParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => ({
      command: [
        ...["opencode", ...(dangerouslySkipPermissions ? ["--auto"] : []), "-m", model],
        ...(prompt === undefined ? [] : [`--prompt=${prompt}`]),
      ],
      ...(dangerouslySkipPermissions && { env: QUIET }),
    }),
    installation: {
      versionCommand: ["opencode", "--version"],
      dockerfile: ["RUN npm install --global opencode-ai@1.18.33"],
      credentials: keysFor(model, ENV_KEYS),
    },
  };
};

export const opencodeAgent: KnownAgent = {
  title: "opencode",
  factory: "opencode",
  exampleModel: "anthropic/claude-opus-4-8",
  create: (model) => opencode(model),
};
