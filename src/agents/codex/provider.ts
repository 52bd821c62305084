import { type Checks, oneOf } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";
import {
  checkedArguments,
  declareEnv,
  SESSION_AGENT_OPTIONS,
  type SessionAgentOptions,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { configArguments } from "./config.ts";
import { codexMcp } from "./mcp.ts";
import { codexParser } from "./output.ts";
import { codexSessions } from "./sessions.ts";

const EFFORTS = ["low", "medium", "high", "xhigh"] as const;
const ENV_KEYS = ["CODEX_API_KEY"] as const;

/** Env vars that Codex reads its credentials and settings from. */
export type CodexEnvKey = (typeof ENV_KEYS)[number];

/** The options of `codex()`. */
export interface CodexOptions extends SessionAgentOptions {
  /** How hard the model thinks. The model's own default when it is left out. */
  readonly effort?: (typeof EFFORTS)[number];
}

const OPTIONS: Checks<CodexOptions> = {
  ...SESSION_AGENT_OPTIONS,
  effort: oneOf(EFFORTS),
};

/** Codex would ask at the start whether to use a newer model than the chosen one. This is how it stores the answer. */
const NO_OTHER_MODEL = configArguments("notice.model_migrations", {
  "gpt-5.5": "gpt-6-sol",
  "gpt-5.6-sol": "gpt-6-sol",
  "gpt-5.6-terra": "gpt-6-sol",
  "gpt-5.6-luna": "gpt-6-luna",
});

/** Codex would ask at the start whether the directory is trusted. */
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
  const { effort, captureSessions = true, env } = checkedArguments(model, options, OPTIONS);
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
    sessions: codexSessions,
    buildCommand: ({ prompt, resume, mcpServers = {} }) => {
      const mcp = codexMcp(mcpServers);
      const command = [
        ...["codex", "exec", ...(resume === undefined ? [] : ["resume"])],
        ...["--json", "--dangerously-bypass-approvals-and-sandbox"],
        ...["-c", "check_for_update_on_startup=false"],
        ...settings,
        ...mcp.args,
        ...(resume === undefined ? [] : [resume.sessionId]),
        "-",
      ];
      // Codex names the time at which a usage limit ends, without its time zone.
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

export const codexAgent: KnownAgent = {
  title: "Codex",
  factory: "codex",
  exampleModel: "gpt-6-sol",
  efforts: EFFORTS,
  create: (model, { effort } = {}) => codex(model, { effort: effort as CodexOptions["effort"] }),
};
