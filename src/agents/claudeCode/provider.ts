import { type Checks, flag, oneOf } from "../../options/checks/checks.ts";
import { shellLine } from "../../tools/shellQuote.ts";
import type { AgentProvider, McpServers } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { MCP_FILE, mcpFile } from "../shared/mcpFile.ts";
import { mapServers } from "../shared/mcpServers.ts";
import { claudeCodeParser } from "./output.ts";
import { claudeCodeSessions } from "./sessions.ts";
import { claudeCodeSetup, SKIP_WARNING } from "./setup.ts";

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const PERMISSION_MODES = ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] as const;
const ENV_KEYS = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
] as const;

/** Env vars that Claude Code reads its credentials and settings from. */
export type ClaudeCodeEnvKey = (typeof ENV_KEYS)[number];

/** The options of `claudeCode()`. */
export interface ClaudeCodeOptions extends SessionAgentOptions {
  /** How hard the model thinks. The model's own default when it is left out. */
  readonly effort?: (typeof EFFORTS)[number];
  /**
   * What the agent may do without asking. When it is left out, the agent may do everything in a sandbox; on the host Claude
   * Code decides. `bypassPermissions` has no effect on the host.
   */
  readonly permissionMode?: (typeof PERMISSION_MODES)[number];
  /** Treat a prompt that begins with `/` as a command of Claude Code. When it is left out, it is text like any other. */
  readonly slashCommands?: boolean;
}

const OPTIONS: Checks<ClaudeCodeOptions> = {
  ...SESSION_AGENT_OPTIONS,
  effort: oneOf(EFFORTS),
  permissionMode: oneOf(PERMISSION_MODES),
  slashCommands: flag,
};

/** As root, Claude Code skips permissions only if this variable says that it runs in a sandbox. */
const IN_SANDBOX = { IS_SANDBOX: "1", DISABLE_AUTOUPDATER: "1" };

const mcpConfig = (servers: McpServers) =>
  mcpFile({
    mcpServers: mapServers<object>(servers, {
      stdio: (server) => ({ type: "stdio", ...server }),
      http: (server) => ({ type: "http", ...server }),
    }),
  });

/**
 * Claude Code, `claude`.
 *
 * @example
 * await run({ agent: claudeCode("claude-opus-4-8", { effort: "high" }), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const claudeCode = (
  model: string,
  options: ClaudeCodeOptions = {},
): AgentProvider<ClaudeCodeEnvKey> => {
  const {
    effort,
    permissionMode,
    slashCommands = false,
    captureSessions = true,
    env,
  } = checkedArguments(model, options, OPTIONS);
  const permissions =
    permissionMode === undefined ? ["--dangerously-skip-permissions"] : ["--permission-mode", permissionMode];
  /** On the host, only the user may skip permissions. */
  const onHost =
    permissionMode === undefined || permissionMode === "bypassPermissions"
      ? []
      : ["--permission-mode", permissionMode];
  const settings = ["--model", model, ...(effort === undefined ? [] : ["--effort", effort])];
  return {
    name: "claude-code",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    reportsUsage: "perCall",
    acceptsMcpServers: true,
    captureSessions,
    sessions: claudeCodeSessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const command = [
        ...["claude", "-p", "--output-format", "stream-json", "--verbose"],
        // Reports the usage of a message once it is written, and that a message is being written.
        "--include-partial-messages",
        ...permissions,
        ...settings,
        ...(resume === undefined ? [] : ["--resume", resume.sessionId]),
        ...(resume?.isFork ? ["--fork-session"] : []),
      ];
      // Claude Code looks at the first character only.
      const stdin = prompt.startsWith("/") && !slashCommands ? `\n${prompt}` : prompt;
      if (mcpServers === undefined) return { command, stdin, env: IN_SANDBOX };
      const mcp = mcpConfig(mcpServers);
      return {
        command: `${shellLine(command)} --mcp-config "$${MCP_FILE}"`,
        stdin,
        env: { ...IN_SANDBOX, ...mcp.env },
        setup: mcp.setup,
      };
    },
    createParser: claudeCodeParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions, cwd }) => ({
      command: [
        "claude",
        ...(dangerouslySkipPermissions ? [...permissions, ...SKIP_WARNING] : onHost),
        ...settings,
        ...(prompt === undefined ? [] : ["--", prompt]),
      ],
      ...(dangerouslySkipPermissions && { env: IN_SANDBOX, setup: claudeCodeSetup(cwd) }),
    }),
    installation: {
      versionCommand: ["claude", "--version"],
      dockerfile: ["RUN npm install --global @anthropic-ai/claude-code@2.1.325"],
      credentials: ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"],
    },
  };
};

export const claudeCodeAgent: KnownAgent = {
  title: "Claude Code",
  factory: "claudeCode",
  exampleModel: "claude-opus-4-8",
  efforts: EFFORTS,
  create: (model, { effort } = {}) => claudeCode(model, { effort: effort as ClaudeCodeOptions["effort"] }),
};
