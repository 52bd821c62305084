import { type Checks, checkedOptions, oneOf } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { isObject } from "../../tools/values/predicates.ts";
import type { AgentProvider, McpServer, McpServers } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import { objectAt } from "../shared/jsonLine.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { codexParser, codexUsage } from "./output.ts";

export const CODEX_EFFORTS = ["low", "medium", "high", "xhigh"] as const;
const ENV_KEYS = ["CODEX_API_KEY"] as const;

/** Env vars that Codex reads its credentials and settings from. */
export type CodexEnvKey = (typeof ENV_KEYS)[number];

/** The options of `codex()`. */
export interface CodexOptions extends AgentSettings, SessionSettings {
  /** How hard the model thinks. The model's own default when it is left out. */
  readonly effort?: (typeof CODEX_EFFORTS)[number];
}

const OPTIONS: Checks<CodexOptions> = {
  ...SESSION_OPTIONS,
  effort: oneOf(CODEX_EFFORTS),
};

/** Values of TOML that are also JSON: strings, lists of them and tables of them. */
const tomlOf = (value: unknown): string => {
  if (!isObject(value)) return JSON.stringify(value);
  const given = Object.entries(value).filter(([, member]) => member !== undefined);
  const members = given.map(([key, member]) => `${JSON.stringify(key)}=${tomlOf(member)}`);
  return `{${members.join(",")}}`;
};

const configArguments = (key: string, value: unknown): string[] => ["-c", `${key}=${tomlOf(value)}`];

/** Starts a server with values that Codex hands on under other names: two servers may want different ones by one name. */
const withValues = (names: readonly (readonly [string, string])[]): string =>
  [
    ...names.map(([name, variable]) => `export ${name}="$${variable}"; unset ${variable}`),
    'exec "$0" "$@"',
  ].join("; ");

/** Codex would give a tool a minute or two, which tests of a project may well exceed. */
const TOOL_TIMEOUT_SECONDS = 3600;

/** What Codex reads of servers: of values, only the names of env vars that hold them. */
const mcpProgram = (
  servers: McpServers,
): { readonly args: string[]; readonly env: Record<string, string> } => {
  const env: Record<string, string> = {};
  const byVariable = (values: Readonly<Record<string, string>> = {}) =>
    Object.entries(values).map(([name, value]) => {
      const variable = `SANDDUNE_MCP_${Object.keys(env).length}`;
      env[variable] = value;
      return [name, variable] as const;
    });
  const connectionOf = (server: McpServer) => {
    if ("url" in server) {
      return { url: server.url, env_http_headers: Object.fromEntries(byVariable(server.headers)) };
    }
    const names = byVariable(server.env);
    const program = [server.command, ...(server.args ?? [])];
    return {
      command: "sh",
      args: ["-c", withValues(names), ...program],
      env_vars: names.map(([, variable]) => variable),
    };
  };
  const args = Object.entries(servers).flatMap(([name, server]) =>
    configArguments(`mcp_servers.${name}`, {
      ...connectionOf(server),
      tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
    }),
  );
  return { args, env };
};

const sessions: AgentSessions = {
  directory: { variable: "CODEX_HOME", inHome: ".codex" },
  files: (sessionId) => [`sessions/*/*/*/rollout-*-${sessionId}.jsonl`],
  related: (sessionId) => ({
    pattern: "sessions/*/*/*/rollout-*.jsonl",
    firstLineHolds: `"session_id":"${sessionId}"`,
  }),
  // Codex finds a session by its name, wherever it was begun.
  place: (file) => file,
  sealedKeys: ["encrypted_content"],
  forksByCopy: true,
  usedInAll: (record) => {
    const total = objectAt(objectAt(objectAt(record, "payload"), "info"), "total_token_usage");
    return Object.keys(total).length === 0 ? undefined : codexUsage(total);
  },
};

/** Before it begins, Codex would ask about newer models than the one that was chosen. This is how it notes the answer. */
const NO_OTHER_MODEL = configArguments("notice.model_migrations", {
  "gpt-5.5": "gpt-6-sol",
  "gpt-5.6-sol": "gpt-6-sol",
  "gpt-5.6-terra": "gpt-6-sol",
  "gpt-5.6-luna": "gpt-6-luna",
});

/** In a sandbox nobody is there to say that the directory is trusted. */
const trust = (cwd: string): string => {
  const table = `[projects.${JSON.stringify(cwd)}]`;
  return `_sanddune_codex="\${CODEX_HOME:-$HOME/.codex}"
mkdir -p -- "$_sanddune_codex"
grep -qsF ${shellQuote(table)} "$_sanddune_codex/config.toml" ||
  printf '\\n%s\\n%s\\n' ${shellQuote(table)} 'trust_level = "trusted"' >>"$_sanddune_codex/config.toml"
unset _sanddune_codex`;
};

/**
 * Codex, `codex`.
 *
 * @example
 * await run({ agent: codex("gpt-6-sol", { effort: "high" }), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const codex = (model: string, options: CodexOptions = {}): AgentProvider<CodexEnvKey> => {
  checkModel(model);
  const { effort, captureSessions = true, env } = checkedOptions(options, OPTIONS);
  const settings = [
    ...["-m", model],
    ...(effort === undefined ? [] : configArguments("model_reasoning_effort", effort)),
  ];
  return {
    name: "codex",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    reportsUsage: "perTurn",
    acceptsMcpServers: true,
    captureSessions,
    sessions,
    buildCommand: ({ prompt, resume, mcpServers = {} }) => {
      const mcp = mcpProgram(mcpServers);
      const command = [
        ...["codex", "exec", ...(resume === undefined ? [] : ["resume"])],
        ...["--json", "--dangerously-bypass-approvals-and-sandbox"],
        ...["-c", "check_for_update_on_startup=false"],
        ...settings,
        ...mcp.args,
        ...(resume === undefined ? [] : [resume.sessionId]),
        "-",
      ];
      // When a usage limit ends it tells by the clock, and not by which.
      return { command, stdin: prompt, env: { TZ: "UTC", ...mcp.env } };
    },
    createParser: codexParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions, cwd }) => ({
      command: [
        ...["codex", "--no-daemon", ...settings],
        ...(dangerouslySkipPermissions
          ? ["--dangerously-bypass-approvals-and-sandbox", ...NO_OTHER_MODEL]
          : []),
        ...(prompt === undefined ? [] : ["--", prompt]),
      ],
      ...(dangerouslySkipPermissions && { setup: trust(cwd) }),
    }),
    installation: {
      versionCommand: ["codex", "--version"],
      dockerfile: ["RUN npm install --global @openai/codex@0.166.0"],
      credentials: ENV_KEYS,
    },
  };
};
