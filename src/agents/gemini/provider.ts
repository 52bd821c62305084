import type { AgentProvider, McpServers } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { mapServers } from "../shared/mcpServers.ts";
import { geminiParser } from "./output.ts";
import { geminiSessions } from "./sessions.ts";

const ENV_KEYS = [
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "GOOGLE_GEMINI_BASE_URL",
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_LOCATION",
] as const;

/** Env vars that Gemini CLI reads its credentials and settings from. */
export type GeminiEnvKey = (typeof ENV_KEYS)[number];

/** The options of `gemini()`. */
export interface GeminiOptions extends SessionAgentOptions {}

const mcpSettings = (servers: McpServers): object =>
  mapServers<object>(servers, {
    stdio: (server) => ({ ...server, trust: true }),
    http: ({ url, headers }) => ({ httpUrl: url, ...(headers && { headers }), trust: true }),
  });

/**
 * In a fresh sandbox Gemini CLI would ask how to authenticate. The answer is in a file of system defaults, so that settings of
 * the image and of the repository take precedence. The content arrives in an env var: every user of the machine can read a
 * command line.
 */
const configure = (servers: McpServers = {}) => ({
  env: {
    SANDDUNE_GEMINI_SETTINGS: JSON.stringify({
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: mcpSettings(servers),
    }),
  },
  setup: `_sanddune_auth=gemini-api-key
[ "$GOOGLE_GENAI_USE_VERTEXAI" != true ] || _sanddune_auth=vertex-ai
GEMINI_CLI_SYSTEM_DEFAULTS_PATH="$HOME/.sanddune-gemini.json"
export GEMINI_CLI_SYSTEM_DEFAULTS_PATH
(umask 077 && printf '{"security":{"auth":{"selectedType":"%s"}},%s\\n' "$_sanddune_auth" "\${SANDDUNE_GEMINI_SETTINGS#?}" >"$GEMINI_CLI_SYSTEM_DEFAULTS_PATH")
unset SANDDUNE_GEMINI_SETTINGS _sanddune_auth`,
});

/** For its actions, and for the directory that it would ask to trust. */
const SKIP_PERMISSIONS = ["--yolo", "--skip-trust"];

/**
 * Gemini CLI, `gemini`.
 *
 * @example
 * await run({ agent: gemini("gemini-3-pro"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const gemini = (model: string, options: GeminiOptions = {}): AgentProvider<GeminiEnvKey> => {
  const { captureSessions = true, env } = checkedArguments(model, options, SESSION_AGENT_OPTIONS);
  return {
    name: "gemini",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    reportsUsage: "perTurn",
    acceptsMcpServers: true,
    captureSessions,
    sessions: geminiSessions,
    buildCommand: ({ prompt, resume, mcpServers }) => ({
      command: [
        ...["gemini", "--output-format", "stream-json", ...SKIP_PERMISSIONS, "-m", model],
        ...(resume === undefined ? [] : ["--resume", resume.sessionId]),
      ],
      stdin: prompt,
      ...configure(mcpServers),
    }),
    createParser: geminiParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => ({
      command: [
        ...["gemini", ...(dangerouslySkipPermissions ? SKIP_PERMISSIONS : []), "-m", model],
        ...(prompt === undefined ? [] : [`--prompt-interactive=${prompt}`]),
      ],
      ...(dangerouslySkipPermissions && configure()),
    }),
    installation: {
      versionCommand: ["gemini", "--version"],
      dockerfile: ["RUN npm install --global @google/gemini-cli@0.61.0"],
      credentials: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
  };
};

export const geminiAgent: KnownAgent = {
  title: "Gemini CLI",
  factory: "gemini",
  exampleModel: "gemini-2.5-pro",
  create: (model) => gemini(model),
};
