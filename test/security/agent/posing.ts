import * as Effect from "effect/Effect";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { AgentInvoker, liveAgentInvoker } from "../../../src/engine/agent/agentInvoker.ts";
import { runIterations } from "../../../src/engine/iterations/iterationLoop.ts";
import {
  type AgentProvider,
  claudeCode,
  codex,
  gemini,
  opencode,
  pi,
  type RunOptions,
  type RunResult,
  run,
} from "../../../src/index.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { loopOf, type Observed, type Overrides } from "../../engine/iterations/loops.ts";

export const AGENTS = {
  claude: () => claudeCode("m"),
  codex: () => codex("m"),
  pi: () => pi("a/m"),
  opencode: () => opencode("a/m"),
  gemini: () => gemini("m"),
} as const;
export type AgentName = keyof typeof AGENTS;

/** An agent whose output is read, and whose sessions are captured, like those of a real one; it does what a script says. */
export const posing = (
  name: AgentName,
  script: string | ((attempt: number) => string),
  changes: Partial<AgentProvider> = {},
): AgentProvider => {
  let attempts = 0;
  return {
    ...AGENTS[name](),
    env: {},
    buildCommand: () => ({
      command: "sh -s",
      stdin: typeof script === "string" ? script : script(++attempts),
    }),
    ...changes,
  };
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Prints lines as the agent's CLI does. */
export const print = (...lines: readonly object[]): string =>
  lines.map((line) => `printf '%s\\n' ${quoted(JSON.stringify(line))}`).join("\n");

export const begins = (sessionId: string) => ({ type: "system", subtype: "init", session_id: sessionId });
export const SUCCESS = { type: "result", subtype: "success", is_error: false, result: "done" };
export const failure = (words: string, status: number) => ({
  type: "result",
  subtype: "success",
  is_error: true,
  api_error_status: status,
  result: words,
});
export const apiError = (words: string, status: number) => ({
  type: "assistant",
  is_api_error_message: true,
  api_error_status: status,
  message: { content: [{ type: "text", text: words }] },
});

/** Where Claude Code keeps its sessions in the sandbox: the directory is made. */
export const IN_PROJECT = `P="$HOME/.claude/projects/-x"; mkdir -p "$P"; cd "$P"`;

/** A Claude Code that says which session it is in, does something to its files, and succeeds. */
export const claudeSession = (sessionId: string, ...lines: readonly string[]): string =>
  [print(begins(sessionId)), `(${IN_PROJECT}`, ...lines, ")", print(SUCCESS)].join("\n");

/** A run, in a sandbox that is a directory unless told otherwise. */
export const attack = (
  cwd: string,
  agent: AgentProvider,
  options: Partial<RunOptions> = {},
): Promise<RunResult> =>
  run({
    agent,
    sandbox: testIsolated(),
    prompt: "Work",
    cwd,
    idleTimeoutSeconds: 60,
    ...options,
  } as RunOptions);

/** Has an agent work in a sandbox that is there, as a run does once it has one. */
export const invoke = async (
  sandbox: SandboxHandle,
  agent: AgentProvider,
  overrides: Overrides = {},
): Promise<Observed> => {
  const { loop, observed } = loopOf({
    ...{ agent, sandbox, cwd: sandbox.worktreePath, completionSignal: [], idleTimeoutSeconds: 60 },
    ...overrides,
  });
  await runAtBoundary(Effect.provideService(runIterations(loop), AgentInvoker, liveAgentInvoker));
  return observed;
};
