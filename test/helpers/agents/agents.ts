import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import type { MountOption } from "../../../src/sandboxes/mounts/resolveMounts.ts";
import { shellQuote } from "../../../src/tools/shellQuote.ts";
import { AGENTS } from "../runtimes/runtimes.ts";

const VERSIONS = join(import.meta.dirname, "../../../scripts/agents/versions");

/** The package that `scripts/agents/install` installs for an agent, with its version: `opencode-ai@1.18.33`. */
export const pinnedPackage = (name: OfflineAgentName | "cursor" | "node"): string => {
  const line = readFileSync(VERSIONS, "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`${VERSIONS} does not name ${name}`);
  return line.slice(name.length).trim();
};

/** Where the agents are in a sandbox. */
export const AGENTS_IN_SANDBOX = "/opt/agents";

/** Brings the agents that `scripts/agents/install` has installed into a sandbox. */
export const agentMount = (): MountOption => ({
  hostPath: AGENTS,
  sandboxPath: AGENTS_IN_SANDBOX,
  readOnly: true,
});

/** PATH of a sandbox with `agentMount()`. */
export const AGENT_PATH = `${AGENTS_IN_SANDBOX}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;

/** What an agent needs to talk to a scripted model, and to nobody else. */
export interface OfflineAgent {
  /** A model to name, as the agent wants it: one that it knows, or the one in its configuration. */
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
  /** Configuration files, below the home directory. */
  readonly files?: Readonly<Record<string, string>>;
}

const KEY = "fake";
const SCRIPTED_MODEL = "scripted/scripted-model";
const LIMITS = { context: 200_000, output: 32_000 };

const codexConfig = (url: string): string => `model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "CODEX_API_KEY"
wire_api = "responses"
request_max_retries = 2
stream_max_retries = 2

[features]
plugins = false

[analytics]
enabled = false
`;

const opencodeConfig = (url: string): object => ({
  autoupdate: false,
  share: "disabled",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${url}/v1`, apiKey: KEY },
      models: { "scripted-model": { name: "Scripted", reasoning: true, limit: LIMITS } },
    },
  },
});

/** What opencode would fetch from the registry of npm and from GitHub otherwise, and a list of models that takes it seconds to read. */
const OPENCODE_FILES = {
  ".config/opencode/node_modules/.keep": "",
  ".config/opencode/package-lock.json": JSON.stringify({
    packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } },
  }),
  ".cache/opencode/bin/rg": "",
  ".cache/opencode/models.json": "{}",
};

const piModels = (url: string): object => ({
  providers: {
    scripted: {
      baseUrl: `${url}/v1`,
      api: "openai-completions",
      apiKey: KEY,
      models: [
        { id: "scripted-model", reasoning: true, contextWindow: LIMITS.context, maxTokens: LIMITS.output },
      ],
    },
  },
});

/** pi would wait for 14 seconds, whatever the model says. */
const PI_SETTINGS = { retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } };

const agents = {
  claude: (url) => ({
    model: "claude-sonnet-4-5",
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Ten of them take minutes.
      CLAUDE_CODE_MAX_RETRIES: "2",
    },
  }),
  codex: (url) => ({
    model: "gpt-5.5",
    env: { CODEX_API_KEY: KEY },
    files: { ".codex/config.toml": codexConfig(url) },
  }),
  opencode: (url) => ({
    model: SCRIPTED_MODEL,
    env: {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url)),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    },
    files: OPENCODE_FILES,
  }),
  pi: (url) => ({
    model: SCRIPTED_MODEL,
    env: { PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    files: {
      ".pi/agent/models.json": JSON.stringify(piModels(url)),
      ".pi/agent/settings.json": JSON.stringify(PI_SETTINGS),
    },
  }),
  gemini: (url) => ({
    model: "gemini-2.5-pro",
    env: {
      GEMINI_API_KEY: KEY,
      GOOGLE_GEMINI_BASE_URL: url,
      // Else it starts itself again, for more memory.
      GEMINI_CLI_NO_RELAUNCH: "true",
    },
  }),
  copilot: (url) => ({
    model: "gpt-5.4",
    env: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: KEY,
      COPILOT_MODEL: "gpt-5.4",
      COPILOT_AUTO_UPDATE: "false",
      // Else it unpacks itself in every home directory. `scripts/agents/install` has made it do so in this one.
      COPILOT_PKG_CACHE_HOME: `${AGENTS_IN_SANDBOX}/home/.cache/copilot`,
    },
  }),
} satisfies Record<string, (url: string) => OfflineAgent>;

/** The agents' names are those of their programs. */
export type OfflineAgentName = keyof typeof agents;

/** How to run an agent with the scripted model at `url`, in a sandbox that shares the host's network. */
export const offlineAgent = (name: OfflineAgentName, url: string): OfflineAgent => agents[name](url);

const writeIntoHome = ([path, content]: [string, string]): string =>
  `mkdir -p "$HOME"/${shellQuote(posix.dirname(path))} && printf '%s' ${shellQuote(content)} > "$HOME"/${shellQuote(path)}`;

/** A line for `sh` that writes an agent's files into the home directory that it runs in. */
export const writeAgentFiles = ({ files = {} }: OfflineAgent): string =>
  Object.entries(files).map(writeIntoHome).join(" && ") || "true";
