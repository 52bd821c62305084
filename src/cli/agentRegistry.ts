import { aider } from "../agents/aider.ts";
import { claudeCode } from "../agents/claudeCode.ts";
import { codex } from "../agents/codex.ts";
import { command } from "../agents/command.ts";
import type { AgentProvider } from "../agents/contract.ts";
import { copilot } from "../agents/copilot.ts";
import { cursor } from "../agents/cursor.ts";
import { gemini } from "../agents/gemini.ts";
import { opencode } from "../agents/opencode.ts";
import { pi } from "../agents/pi.ts";
import { UsageError } from "./usageError.ts";

/** What the command line can say about an agent. */
export interface AgentFlags {
  readonly agentCommand?: string;
  readonly model?: string;
}

interface AgentEntry {
  /** One line of the help. */
  readonly summary: string;
  create(flags: AgentFlags): AgentProvider;
}

const withModel = (
  summary: string,
  example: string,
  create: (model: string) => AgentProvider,
): AgentEntry => ({
  summary,
  create: ({ model, agentCommand }) => {
    if (agentCommand !== undefined) throw new UsageError("--agent-command is for --agent command alone");
    if (model === undefined) throw new UsageError(`--model is missing, e.g. --model ${example}`);
    return create(model);
  },
});

/** The agents of the command line. A new agent provider is one entry here. */
export const agentRegistry: Readonly<Record<string, AgentEntry>> = {
  "claude-code": withModel("Claude Code", "claude-opus-4-8", (model) => claudeCode(model)),
  codex: withModel("Codex", "gpt-6-sol", (model) => codex(model)),
  opencode: withModel("opencode", "anthropic/claude-opus-4-8", (model) => opencode(model)),
  pi: withModel("pi", "anthropic/claude-opus-4-8", (model) => pi(model)),
  gemini: withModel("Gemini CLI", "gemini-2.5-pro", (model) => gemini(model)),
  copilot: withModel("GitHub Copilot CLI", "gpt-5.4", (model) => copilot(model)),
  cursor: withModel("Cursor", "composer-2", (model) => cursor(model)),
  aider: withModel("aider", "sonnet", (model) => aider(model)),
  command: {
    summary: "the program of --agent-command, with the prompt on its stdin",
    create: ({ agentCommand, model }) => {
      if (agentCommand === undefined || agentCommand.trim() === "") {
        throw new UsageError(
          "--agent command needs the command line to run, e.g. --agent-command 'sh ./agent.sh'",
        );
      }
      if (model !== undefined) throw new UsageError("--model: a command has no model that could be chosen");
      return command(agentCommand);
    },
  },
};
