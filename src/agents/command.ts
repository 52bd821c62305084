import type { EnvVars } from "../envVars.ts";
import { InvalidOptionsError } from "../errors.ts";
import { shellQuote } from "../process/shellQuote.ts";
import type { AgentProvider } from "./contract.ts";

export interface CommandOptions {
  readonly env?: EnvVars;
  /**
   * The command line that shows the program's terminal interface. A prompt is added as its last argument: let the line
   * end with `--` if the program knows that, so that no prompt can be taken for an option.
   */
  readonly interactive?: string;
}

const checkCommandLine = (option: string, value: unknown): void => {
  if (typeof value !== "string" || value.trim() === "") {
    throw new InvalidOptionsError(
      option,
      'command() needs the command line to run, e.g. command("sh ./agent.sh")',
    );
  }
};

/**
 * Any command-line program as an agent: it gets the prompt on its standard input, what it prints to stdout is its
 * text, and exit code 0 is success.
 *
 * @example
 * await run({ agent: command("sh ./agent.sh"), sandbox: docker(), prompt: "Fix the tests" });
 */
export const command = (commandLine: string, { env, interactive }: CommandOptions = {}): AgentProvider => {
  checkCommandLine("commandLine", commandLine);
  if (interactive !== undefined) checkCommandLine("interactive", interactive);
  return {
    name: "command",
    ...(env && { env }),
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
