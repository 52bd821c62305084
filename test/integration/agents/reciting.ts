import { readFileSync } from "node:fs";
import {
  type AgentEvent,
  type AgentProvider,
  type AgentStreamEvent,
  type RunOptions,
  run,
  scripted,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";

/** Says what the prompt says: one event a line, as JSON. Other lines, and stderr, are raw. */
export const reciting: AgentProvider = {
  name: "reciting",
  buildCommand: ({ prompt }) => ({ command: "cat; echo to stderr >&2", stdin: prompt }),
  createParser: () => (line, stream) =>
    line.startsWith("{") ? [JSON.parse(line) as AgentEvent] : [{ type: "raw", line, stream }],
};
export const recite = (...events: AgentEvent[]): string =>
  `${events.map((event) => JSON.stringify(event)).join("\n")}\n`;

export const USAGE = {
  inputTokens: 1,
  cacheCreationInputTokens: 2,
  cacheReadInputTokens: 3,
  outputTokens: 4,
};
export const EVERY_KIND: AgentEvent[] = [
  { type: "sessionId", sessionId: "s-1" },
  { type: "text", text: "Let me see.\n" },
  { type: "toolCall", name: "Bash", input: { command: "ls" }, id: "1" },
  { type: "toolResult", output: "README.md", id: "1" },
  { type: "toolCall", name: "mcp__tracker__close", input: { issue: 42 } },
  { type: "toolCall", name: "Nothing", input: null },
  { type: "usage", usage: USAGE },
  { type: "result", isError: false, message: "All done." },
];

type Overrides = Partial<Omit<RunOptions, "prompt" | "promptFile" | "promptArgs">> & {
  readonly prompt?: string;
};

/** A run in a repository of its own. */
export const runHere = (options: Overrides) => {
  const cwd = temporaryRepository();
  return run({ agent: scripted([]), sandbox: testIsolated(), prompt: "Work", cwd, ...options } as RunOptions);
};

export const logOf = ({ logFilePath }: { readonly logFilePath?: string }): string =>
  readFileSync(logFilePath as string, "utf8");

export const hearing = (onEvent: (event: AgentStreamEvent) => unknown) => ({
  logging: { type: "file" as const, onAgentStreamEvent: onEvent as (event: AgentStreamEvent) => void },
});
