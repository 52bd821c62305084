import { checkedOptions } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { parseObject } from "../../tools/values/json.ts";
import type { AgentProvider, McpServers } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  keysFor,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import { objectAt, objectsAt, textAt } from "../shared/jsonLine.ts";
import { mcpFile } from "../shared/mcpFile.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { opencodeParser } from "./output.ts";

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
export interface OpencodeOptions extends AgentSettings, SessionSettings {}

/** opencode has a database instead of files: sessions are exported to, and imported from, files beside it. */
const EXPORTS = "opencode/sanddune";

const directory = { variable: "XDG_DATA_HOME", inHome: ".local/share" };
const exportFile = (sessionId: string): string =>
  `"\${${directory.variable}:-$HOME/${directory.inHome}}"/${EXPORTS}/${shellQuote(`${sessionId}.json`)}`;

const QUIET = { OPENCODE_DISABLE_AUTOUPDATE: "1" };
const PROGRAM = `OPENCODE_DISABLE_AUTOUPDATE=${QUIET.OPENCODE_DISABLE_AUTOUPDATE} opencode`;

/** What was said in an exported session: nobody changes that afterwards. */
const saidIn = (exported: string): readonly string[] =>
  objectsAt(parseObject(exported) ?? {}, "messages").map((message) =>
    JSON.stringify([
      textAt(objectAt(message, "info"), "id"),
      ...objectsAt(message, "parts").map((part) => textAt(part, "text") ?? ""),
    ]),
  );

const sessions: AgentSessions = {
  directory,
  files: (sessionId) => [`${EXPORTS}/${sessionId}.json`],
  place: (file) => file,
  continues: (before, after) => {
    const saidAfter = saidIn(after);
    return saidIn(before).every((said, index) => saidAfter[index] === said);
  },
  exportCommand: (sessionId) =>
    `mkdir -p -- "$(dirname -- ${exportFile(sessionId)})" && ${PROGRAM} export ${shellQuote(sessionId)} >${exportFile(sessionId)}`,
  importCommand: (sessionId) => `${PROGRAM} import ${exportFile(sessionId)}`,
};

/** Has opencode read a file of its own for this, beside all others. */
const mcpConfig = (servers: McpServers) => {
  const mcp = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server
        ? { type: "remote", enabled: true, ...server }
        : {
            type: "local",
            enabled: true,
            command: [server.command, ...(server.args ?? [])],
            environment: server.env ?? {},
          },
    ]),
  );
  return mcpFile({ mcp }, "OPENCODE_CONFIG");
};

/**
 * opencode, `opencode`. A model is named together with its provider.
 *
 * @example
 * await run({ agent: opencode("anthropic/claude-opus-4-8"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const opencode = (model: string, options: OpencodeOptions = {}): AgentProvider<OpencodeEnvKey> => {
  checkModel(model);
  const { captureSessions = true, env } = checkedOptions(options, SESSION_OPTIONS);
  return {
    name: "opencode",
    model,
    env: declareEnv(keysFor(model, ENV_KEYS), env),
    reportsResult: true,
    reportsUsage: "perCall",
    acceptsMcpServers: true,
    captureSessions,
    sessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const mcp = mcpServers && mcpConfig(mcpServers);
      return {
        command: [
          ...["opencode", "run", "--format", "json", "--auto", "-m", model],
          // Only its log tells of errors after which it tries again.
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
