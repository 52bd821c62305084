import { type Check, type Checks, checkedOptions, checkValue, text } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentProvider } from "../contract.ts";

/** The options of `command()`. */
export interface CommandOptions {
  /** Env vars for the program. */
  readonly env?: EnvVars;
  /**
   * The command line that starts the program's terminal interface. A prompt is added as its last argument: if the program
   * supports it, end the line with `--`, so that it does not take a prompt for an option.
   */
  readonly interactive?: string;
}

const shellLine: Check = (value) =>
  text(value) === undefined ? undefined : 'must be a command line, e.g. "sh ./agent.sh"';

const OPTIONS: Checks<CommandOptions> = { env, interactive: shellLine };

/**
 * Any command-line program as an agent. It gets the prompt on stdin, its stdout is the agent's text, and exit code 0 means
 * success.
 *
 * @example
 * await run({ agent: command("sh ./agent.sh"), sandbox: docker(), prompt: "Fix the tests" });
 */
export const command = (commandLine: string, options: CommandOptions = {}): AgentProvider => {
  checkValue("commandLine", commandLine, shellLine);
  const { interactive, ...declared } = checkedOptions(options, OPTIONS);
  return {
    name: "command",
    ...declared,
    buildCommand: ({ prompt }) => ({ command: commandLine, stdin: prompt }),
    createParser: () => (line, stream) =>
      stream === "stdout" ? [{ type: "text", text: `${line}\n` }] : [{ type: "raw", line, stream }],
    ...(interactive !== undefined && {
      interactiveCommand: ({ prompt }) => ({
        command: prompt === undefined ? interactive : `${interactive} ${shellQuote(prompt)}`,
      }),
    }),
  };
};
