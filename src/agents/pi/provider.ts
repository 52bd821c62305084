import { type Checks, checkedOptions, oneOf } from "../../options/checks/checks.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";
import {
  type AgentSettings,
  checkModel,
  declareEnv,
  keysFor,
  SESSION_OPTIONS,
  type SessionSettings,
} from "../shared/agentOptions.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { PI_MCP_EXTENSION_FILE, piMcp } from "./mcp.ts";
import { piParser } from "./output.ts";

export const PI_EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const ENV_KEYS = {
  anthropic: ["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN"],
  openai: ["OPENAI_API_KEY"],
  google: ["GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
} as const;

/** Env vars that pi reads its credentials and settings from. */
export type PiEnvKey = (typeof ENV_KEYS)[keyof typeof ENV_KEYS][number];

/** The options of `pi()`. */
export interface PiOptions extends AgentSettings, SessionSettings {
  /** How long the model may think. */
  readonly thinking?: (typeof PI_EFFORTS)[number];
}

const OPTIONS: Checks<PiOptions> = {
  ...SESSION_OPTIONS,
  thinking: oneOf(PI_EFFORTS),
};

/** The name of the directory in which pi keeps the sessions of those who work in `cwd`. */
export const piProject = (cwd: string): string => `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;

const sessions: AgentSessions = {
  directory: { variable: "PI_CODING_AGENT_DIR", inHome: ".pi/agent" },
  files: (sessionId) => [`sessions/*/*_${sessionId}.jsonl`],
  place: (file, cwd) => file.replace(/^sessions\/[^/]+\//, () => `sessions/${piProject(cwd)}/`),
  // It refuses to go on where it has not worked before.
  withCwd: (record, cwd) => (record["type"] === "session" ? { ...record, cwd } : undefined),
  sealedKeys: ["thinking", "thinkingSignature", "textSignature", "thoughtSignature"],
};

const QUIET = { PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };

const goOn = (sessionId: string, isFork: boolean): string[] => [isFork ? "--fork" : "--session", sessionId];

/**
 * pi, `pi`. A model is named together with its provider.
 *
 * @example
 * await run({ agent: pi("anthropic/claude-opus-4-8", { thinking: "high" }), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const pi = (model: string, options: PiOptions = {}): AgentProvider<PiEnvKey> => {
  checkModel(model);
  const { thinking, captureSessions = true, env } = checkedOptions(options, OPTIONS);
  const settings = ["--model", model, ...(thinking === undefined ? [] : ["--thinking", thinking])];
  return {
    name: "pi",
    model,
    env: declareEnv(keysFor(model, ENV_KEYS), env),
    reportsResult: true,
    reportsUsage: "perCall",
    acceptsMcpServers: true,
    captureSessions,
    sessions,
    buildCommand: ({ prompt, resume, mcpServers }) => {
      const command = [
        ...["pi", "-p", "--mode", "json", ...settings],
        ...(resume === undefined ? [] : goOn(resume.sessionId, resume.isFork)),
      ];
      if (mcpServers === undefined) return { command, stdin: prompt, env: QUIET };
      const { env: mcpEnv, setup } = piMcp(mcpServers);
      return {
        command: `${command.map(shellQuote).join(" ")} --extension ${PI_MCP_EXTENSION_FILE}`,
        stdin: prompt,
        env: { ...QUIET, ...mcpEnv },
        setup,
      };
    },
    createParser: piParser,
    // pi has no permissions that it could ask for.
    interactiveCommand: ({ prompt }) => ({
      // A word that begins with @ would be a file.
      command: ["pi", ...settings, ...(prompt === undefined ? [] : ["--", prompt.replace(/^@/, " @")])],
    }),
    installation: {
      versionCommand: ["pi", "--version"],
      dockerfile: ["RUN npm install --global @earendil-works/pi-coding-agent@0.87.1"],
      credentials: keysFor(model, ENV_KEYS),
    },
  };
};
