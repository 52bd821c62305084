import { shellLine } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";
import {
  AGENT_OPTIONS,
  type AgentOptions,
  checkedArguments,
  declareEnv,
  keysFor,
} from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { PROMPT_FILE, writePromptFile } from "../shared/promptFile.ts";
import { aiderParser, END_LINE } from "./output.ts";

const ENV_KEYS = {
  anthropic: ["ANTHROPIC_API_KEY"],
  openai: ["OPENAI_API_KEY", "OPENAI_API_BASE"],
  gemini: ["GEMINI_API_KEY"],
  openrouter: ["OPENROUTER_API_KEY"],
  deepseek: ["DEEPSEEK_API_KEY"],
} as const;

/** Env vars that aider reads its credentials and settings from. */
export type AiderEnvKey = (typeof ENV_KEYS)[keyof typeof ENV_KEYS][number];

/** A short name of a model does not name its provider. */
const keysOf = (model: string): readonly AiderEnvKey[] =>
  model.includes("/") ? keysFor(model, ENV_KEYS) : Object.values(ENV_KEYS).flat();

/** The options of `aider()`. */
export interface AiderOptions extends AgentOptions {}

/** No questions, no news, no colors. */
const NON_INTERACTIVE = [
  "--yes-always",
  "--no-stream",
  "--no-pretty",
  "--no-check-update",
  "--no-show-release-notes",
  "--no-show-model-warnings",
  "--no-gitignore",
  "--no-auto-lint",
  "--no-detect-urls",
  "--no-suggest-shell-commands",
  "--analytics-disable",
];

/** Keeps aider from leaving files in the repository. Its cache cannot be turned off: one that it makes is removed. */
const HISTORIES = ["--chat-history-file", "/dev/null", "--input-history-file", "/dev/null"];
const SETUP = `_sanddune_root=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
_sanddune_cache=$(ls -d "$_sanddune_root"/.aider.tags.cache.v[0-9]* 2>/dev/null)
${writePromptFile(`[ -n "$_sanddune_cache" ] || rm -rf -- "$_sanddune_root"/.aider.tags.cache.v[0-9]*; printf "\\n%s\\n" "${END_LINE}"`)}`;

/**
 * aider, `aider`. It commits its edits, has no other tools, and reports neither a session nor usage.
 *
 * @example
 * await run({ agent: aider("openai/gpt-6"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const aider = (model: string, options: AiderOptions = {}): AgentProvider<AiderEnvKey> => {
  const { env } = checkedArguments(model, options, AGENT_OPTIONS);
  const program = ["aider", "--model", model, ...NON_INTERACTIVE, ...HISTORIES];
  return {
    name: "aider",
    model,
    env: declareEnv(keysOf(model), env),
    buildCommand: ({ prompt }) => ({
      setup: SETUP,
      command: `${shellLine(program)} --message-file "$${PROMPT_FILE}" </dev/null`,
      stdin: prompt,
      // aider breaks lines at the width of the terminal.
      env: { COLUMNS: "100000" },
    }),
    createParser: aiderParser,
    installation: {
      versionCommand: ["aider", "--version"],
      dockerfile: [
        "RUN apt-get update && apt-get install --yes --no-install-recommends pipx && rm -rf /var/lib/apt/lists/*",
        "RUN PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin pipx install aider-chat==0.86.2",
      ],
      credentials: keysOf(model).filter((key) => key.endsWith("_KEY")),
    },
  };
};

export const aiderAgent: KnownAgent = {
  title: "aider",
  factory: "aider",
  exampleModel: "sonnet",
  create: (model) => aider(model),
};
