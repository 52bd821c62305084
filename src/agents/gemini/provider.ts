import { basename } from "node:path";
import { checkedOptions } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider, McpServers } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { geminiParser } from "./output.ts";

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
export interface GeminiOptions extends AgentSettings, SessionSettings {}

/** The name of the directory in which Gemini CLI keeps the sessions of those who work in `cwd`, unless it is taken. */
export const geminiProject = (cwd: string): string =>
  basename(cwd)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "project";

const chatOf = (sessionId: string): string => `session-*-${sessionId.slice(0, 8)}.jsonl`;

/** A copy of a session still has the name of the original, which begins with the time and ends like the id. */
const renameCopy = (
  sessionId: string,
): string => `for _sanddune_chat in "$HOME"/.gemini/tmp/*/chats/*.jsonl; do
  if head -n 1 -- "$_sanddune_chat" | grep -qF ${shellQuote(`"sessionId":"${sessionId}"`)}; then
    _sanddune_name="\${_sanddune_chat%-*}"-${shellQuote(sessionId.slice(0, 8))}.jsonl
    [ "$_sanddune_chat" = "$_sanddune_name" ] || mv -- "$_sanddune_chat" "$_sanddune_name" || exit 1
  fi
done`;

const sessions: AgentSessions = {
  directory: { inHome: ".gemini" },
  files: (sessionId) => [`tmp/*/chats/${chatOf(sessionId)}`],
  place: (file, cwd) => file.replace(/^tmp\/[^/]+\//, `tmp/${geminiProject(cwd)}/`),
  sealedKeys: ["thoughtSignature"],
  forksByCopy: true,
  importCommand: renameCopy,
};

const mcpSettings = (servers: McpServers): object =>
  Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server
        ? { httpUrl: server.url, ...(server.headers && { headers: server.headers }), trust: true }
        : { ...server, trust: true },
    ]),
  );

/**
 * In a fresh sandbox Gemini CLI would ask a person how to authenticate. All that it has to know is in a file of its own,
 * beneath all others: whatever the image or the repository says otherwise wins. It comes by an env var, since what stands
 * on a command line can be read by everybody on the machine.
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

/** Of what it may do without asking, and of the directory, which nobody is there to trust. */
const SKIP_PERMISSIONS = ["--yolo", "--skip-trust"];

/**
 * Gemini CLI, `gemini`.
 *
 * @example
 * await run({ agent: gemini("gemini-3-pro"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const gemini = (model: string, options: GeminiOptions = {}): AgentProvider<GeminiEnvKey> => {
  checkModel(model);
  const { captureSessions = true, env } = checkedOptions(options, SESSION_OPTIONS);
  return {
    name: "gemini",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    reportsUsage: "perTurn",
    acceptsMcpServers: true,
    captureSessions,
    sessions,
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
