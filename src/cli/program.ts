import { Command } from "commander";
import { createRunCommand } from "./runCommand.ts";
import { version } from "./version.ts";

/** All commands. Nothing here ends the process: the parser throws, and `main.ts` decides. */
export const createProgram = (): Command => {
  const program = new Command("sanddune")
    .description("Hands a prompt to a coding agent in a sandbox, and gets commits on a branch.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  return program.addCommand(createRunCommand().copyInheritedSettings(program));
};
