import { checkedOptions } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider, McpServers, ResumedSession } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import { MCP_FILE, mcpFile } from "../shared/mcpFile.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { copilotParser, SESSION_LINE } from "./output.ts";

const ENV_KEYS = [
  "COPILOT_GITHUB_TOKEN",
  "COPILOT_PROVIDER_BASE_URL",
  "COPILOT_PROVIDER_TYPE",
  "COPILOT_PROVIDER_API_KEY",
  "COPILOT_PROVIDER_BEARER_TOKEN",
] as const;

/** Env vars that Copilot CLI reads its credentials and settings from. */
export type CopilotEnvKey = (typeof ENV_KEYS)[number];

/** The options of `copilot()`. */
export interface CopilotOptions extends AgentSettings, SessionSettings {}

const sessions: AgentSessions = {
  directory: { variable: "COPILOT_HOME", inHome: ".copilot" },
  files: (sessionId) => [`session-state/${sessionId}/events.jsonl`],
  // Copilot CLI finds a session by its name, wherever it was begun.
  place: (file) => file,
  sealedKeys: ["encryptedContent", "reasoningBlocks", "reasoningOpaque"],
  forksByCopy: true,
};

const mcpConfig = (servers: McpServers) => {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server
        ? { type: "http", tools: ["*"], ...server }
        : { type: "local", tools: ["*"], args: [], ...server },
    ]),
  );
  return mcpFile({ mcpServers });
};

const SESSION = "_sanddune_session";

/** Names the session, and tells its name, before Copilot CLI begins. It would choose and tell one only at its end. */
const nameSession = (resume: ResumedSession | undefined): string => {
  const id =
    resume === undefined ? "$(cat /proc/sys/kernel/random/uuid 2>/dev/null)" : shellQuote(resume.sessionId);
  return `${SESSION}=${id}
printf '{"type":"%s","sessionId":"%s"}\\n' ${SESSION_LINE} "$${SESSION}"`;
};

/**
 * GitHub Copilot CLI, `copilot`.
 *
 * @example
 * await run({ agent: copilot("claude-opus-4.8"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const copilot = (model: string, options: CopilotOptions = {}): AgentProvider<CopilotEnvKey> => {
  checkModel(model);
  const { captureSessions = true, env } = checkedOptions(options, SESSION_OPTIONS);
  return {
    name: "copilot",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    acceptsMcpServers: true,
    captureSessions,
    sessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const program = [
        ...["copilot", "--output-format", "json", "--allow-all", "--no-ask-user"],
        ...["--no-color", "--no-auto-update", "--model", model],
      ];
      const session =
        resume === undefined ? `\${${SESSION}:+--session-id "$${SESSION}"}` : `--resume "$${SESSION}"`;
      const command = `${program.map(shellQuote).join(" ")} ${session}`;
      const name = nameSession(resume);
      if (mcpServers === undefined) return { setup: name, command, stdin: prompt };
      const { env: mcpEnv, setup } = mcpConfig(mcpServers);
      return {
        setup: `${setup}\n${name}`,
        command: `${command} --additional-mcp-config "@$${MCP_FILE}"`,
        stdin: prompt,
        env: mcpEnv,
      };
    },
    createParser: copilotParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => ({
      command: [
        ...["copilot", ...(dangerouslySkipPermissions ? ["--allow-all"] : []), "--model", model],
        ...(prompt === undefined ? [] : [`--interactive=${prompt}`]),
      ],
      // Said this way it is also taken to trust the directory, which nobody else would be asked about.
      ...(dangerouslySkipPermissions && { env: { COPILOT_ALLOW_ALL: "true" } }),
    }),
    installation: {
      versionCommand: ["copilot", "--version"],
      dockerfile: ["RUN npm install --global @github/copilot@1.0.102"],
      credentials: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
    },
  };
};
