import { type Checks, checkedOptions, flag, oneOf } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider, McpServers } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import { MCP_FILE, mcpFile } from "../shared/mcpFile.ts";
import { claudeCodeParser } from "./output.ts";
import { claudeCodeSessions } from "./sessions.ts";
import { claudeCodeSetup, SKIP_WARNING } from "./setup.ts";

export const CLAUDE_CODE_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
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
export interface ClaudeCodeOptions extends AgentSettings, SessionSettings {
  /** How hard the model thinks. The model's own default when it is left out. */
  readonly effort?: (typeof CLAUDE_CODE_EFFORTS)[number];
  /**
   * What the agent may do without asking. When it is left out, that is everything in a sandbox, and on the host what
   * Claude Code itself decides; there `bypassPermissions` has no effect.
   */
  readonly permissionMode?: (typeof PERMISSION_MODES)[number];
  /** Take a prompt that begins with `/` for a command of Claude Code's. It is text like any other when this is left out. */
  readonly slashCommands?: boolean;
}

const OPTIONS: Checks<ClaudeCodeOptions> = {
  ...SESSION_OPTIONS,
  effort: oneOf(CLAUDE_CODE_EFFORTS),
  permissionMode: oneOf(PERMISSION_MODES),
  slashCommands: flag,
};

/** As root, Claude Code skips permissions only where it is told that it is in a sandbox. */
const IN_SANDBOX = { IS_SANDBOX: "1", DISABLE_AUTOUPDATER: "1" };

const mcpConfig = (servers: McpServers) => {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server ? { type: "http", ...server } : { type: "stdio", ...server },
    ]),
  );
  return mcpFile({ mcpServers });
};

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
  checkModel(model);
  const {
    effort,
    permissionMode,
    slashCommands = false,
    captureSessions = true,
    env,
  } = checkedOptions(options, OPTIONS);
  const permissions =
    permissionMode === undefined ? ["--dangerously-skip-permissions"] : ["--permission-mode", permissionMode];
  /** There, everything that skips permissions is left to the person. */
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
        // It tells what a message has used when that is written, and that it is being written at all.
        "--include-partial-messages",
        ...permissions,
        ...settings,
        ...(resume === undefined ? [] : ["--resume", resume.sessionId]),
        ...(resume?.isFork ? ["--fork-session"] : []),
      ];
      // Only the very first character makes a command of a prompt.
      const stdin = prompt.startsWith("/") && !slashCommands ? `\n${prompt}` : prompt;
      if (mcpServers === undefined) return { command, stdin, env: IN_SANDBOX };
      const { env: mcpEnv, setup } = mcpConfig(mcpServers);
      return {
        command: `${command.map(shellQuote).join(" ")} --mcp-config "$${MCP_FILE}"`,
        stdin,
        env: { ...IN_SANDBOX, ...mcpEnv },
        setup,
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
