import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";
import { AGENT_OPTIONS, type AgentOptions, checkedArguments, declareEnv } from "../shared/agentOptions.ts";
import type { KnownAgent } from "../shared/knownAgent.ts";
import { PROMPT_FILE, writePromptFile } from "../shared/promptFile.ts";

import { cursorMcpEnv, defineRestoreCursorMcp, RESTORE_CURSOR_MCP, writeCursorMcp } from "./mcp.ts";
import { cursorParser } from "./output.ts";
import driverProgram from "./programs/driver.ts?text";

const ENV_KEYS = ["CURSOR_API_KEY"] as const;

/** Env vars that Cursor reads its credentials and settings from. */
export type CursorEnvKey = (typeof ENV_KEYS)[number];

/** The options of `cursor()`. */
export interface CursorOptions extends AgentOptions {}

/** The CLI accepts a prompt only as an argument, and an argument has at most 128 KB. */
const LONGEST_ARGUMENT = 100_000;
const ARGUMENT = "_sanddune_argument";

const driver = (model: string): string =>
  `node --no-warnings --input-type=module --eval ${shellQuote(driverProgram)} ${shellQuote(model)}`;

const chooseArgument = `if [ "$(wc -c <"$${PROMPT_FILE}")" -le ${LONGEST_ARGUMENT} ]; then
  ${ARGUMENT}=$(cat -- "$${PROMPT_FILE}")
else
  ${ARGUMENT}="Your task is written in the file $${PROMPT_FILE}. Read that file completely, to its end, and do what it says."
fi
case "$${ARGUMENT}" in -*) ${ARGUMENT}=" $${ARGUMENT}" ;; esac`;

const setup = (model: string, hasServers: boolean): string =>
  [
    `if ! command -v cursor-agent >/dev/null 2>&1 && command -v node >/dev/null 2>&1; then
  exec ${driver(model)}
fi`,
    defineRestoreCursorMcp,
    writePromptFile(hasServers ? RESTORE_CURSOR_MCP : undefined),
    ...(hasServers ? [writeCursorMcp] : []),
    chooseArgument,
  ].join("\n");

/** Cursor's CLI silently ignores servers that are not approved. */
const program = (model: string, hasServers: boolean): string =>
  [
    "cursor-agent --print --output-format stream-json --force",
    ...(hasServers ? ["--approve-mcps"] : []),
    `--model ${shellQuote(model)} "$${ARGUMENT}" </dev/null`,
  ].join(" ");

/**
 * Cursor, by its CLI `cursor-agent` where that is installed, and otherwise by its SDK, `@cursor/sdk`, which needs
 * Node.js 22.13. The SDK is looked for in the directory that CURSOR_SDK names, in NODE_PATH, and among npm's global
 * packages.
 *
 * @example
 * await run({ agent: cursor("composer-2"), sandbox: docker(), prompt: "Fix issue 42" });
 */
export const cursor = (model: string, options: CursorOptions = {}): AgentProvider<CursorEnvKey> => {
  const { env } = checkedArguments(model, options, AGENT_OPTIONS);
  return {
    name: "cursor",
    model,
    env: declareEnv(ENV_KEYS, env),
    reportsResult: true,
    acceptsMcpServers: true,
    buildCommand: ({ prompt, mcpServers }) => ({
      setup: setup(model, mcpServers !== undefined),
      command: program(model, mcpServers !== undefined),
      stdin: prompt,
      ...(mcpServers && { env: cursorMcpEnv(mcpServers) }),
    }),
    createParser: cursorParser,
    interactiveCommand: ({ prompt, dangerouslySkipPermissions }) => ({
      command: [
        ...["cursor-agent", ...(dangerouslySkipPermissions ? ["--force"] : []), "--model", model],
        ...(prompt === undefined ? [] : [prompt.startsWith("-") ? ` ${prompt}` : prompt]),
      ],
    }),
    installation: {
      versionCommand: ["sh", "-c", "cursor-agent --version || npm list --global @cursor/sdk"],
      dockerfile: ["RUN npm install --global @cursor/sdk@1.0.32"],
      credentials: ["CURSOR_API_KEY"],
    },
  };
};

export const cursorAgent: KnownAgent = {
  title: "Cursor",
  factory: "cursor",
  exampleModel: "composer-2",
  create: (model) => cursor(model),
};
