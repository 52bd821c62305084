import type { EnvVars } from "../envVars.ts";
import { InvalidOptionsError } from "../errors.ts";
import type { AgentProvider } from "./contract.ts";

/**
 * Any command-line program as an agent: it gets the prompt on its standard input, what it prints to stdout is its
 * text, and exit code 0 is success.
 *
 * @example
 * await run({ agent: command("sh ./agent.sh"), sandbox: docker(), prompt: "Fix the tests" });
 */
export const command = (commandLine: string, { env }: { readonly env?: EnvVars } = {}): AgentProvider => {
  if (typeof commandLine !== "string" || commandLine.trim() === "") {
    throw new InvalidOptionsError(
      "commandLine",
      'command() needs the command line to run, e.g. command("sh ./agent.sh")',
    );
  }
  return {
    name: "command",
    ...(env && { env }),
    buildCommand: ({ prompt }) => ({ command: commandLine, stdin: prompt }),
    parseLine: (line, stream) =>
      stream === "stdout" ? [{ type: "text", text: `${line}\n` }] : [{ type: "raw", line, stream }],
  };
};
