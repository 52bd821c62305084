import { shellLine, shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider, McpServers, ResumedSession } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { MCP_FILE, mcpFile } from "../shared/mcpFile.ts";
import { mapServers } from "../shared/mcpServers.ts";
import { copilotParser, SESSION_LINE } from "./output.ts";
import { copilotSessions } from "./sessions.ts";

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
export interface CopilotOptions extends SessionAgentOptions {}

const mcpConfig = (servers: McpServers) =>
  mcpFile({
    mcpServers: mapServers<object>(servers, {
      stdio: (server) => ({ type: "local", tools: ["*"], args: [], ...server }),
      http: (server) => ({ type: "http", tools: ["*"], ...server }),
    }),
  });

const SESSION = "_sanddune_session";

/** Chooses the id of the session and prints it first. Copilot CLI prints the id only when it ends by itself. */
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
  const { captureSessions = true, env } = checkedArguments(model, options, SESSION_AGENT_OPTIONS);
  return {
    name: "copilot",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    acceptsMcpServers: true,
    captureSessions,
    sessions: copilotSessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const program = [
        ...["copilot", "--output-format", "json", "--allow-all", "--no-ask-user"],
        ...["--no-color", "--no-auto-update", "--model", model],
      ];
      const session =
        resume === undefined ? `\${${SESSION}:+--session-id "$${SESSION}"}` : `--resume "$${SESSION}"`;
      const command = `${shellLine(program)} ${session}`;
      const name = nameSession(resume);
      if (mcpServers === undefined) return { setup: name, command, stdin: prompt };
      const mcp = mcpConfig(mcpServers);
      return {
        setup: `${mcp.setup}\n${name}`,
        command: `${command} --additional-mcp-config "@$${MCP_FILE}"`,
        stdin: prompt,
        env: mcp.env,
      };
    },
    createParser: copilotParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => ({
      command: [
        ...["copilot", ...(dangerouslySkipPermissions ? ["--allow-all"] : []), "--model", model],
        ...(prompt === undefined ? [] : [`--interactive=${prompt}`]),
      ],
      // Unlike the option, the variable also marks the directory as trusted.
      ...(dangerouslySkipPermissions && { env: { COPILOT_ALLOW_ALL: "true" } }),
    }),
    installation: {
      versionCommand: ["copilot", "--version"],
      dockerfile: ["RUN npm install --global @github/copilot@1.0.102"],
      credentials: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
    },
  };
};

export const copilotAgent: KnownAgent = {
  title: "GitHub Copilot CLI",
  factory: "copilot",
  exampleModel: "gpt-5.4",
  create: (model) => copilot(model),
};
