import { type Command, CommanderError } from "commander";
import { distrustCheckoutOf } from "../process/hostPrograms.ts";
import { EXIT_BAD_USAGE, EXIT_SUCCESS } from "./exitCodes.ts";
import { commandPath, findCommand } from "./findCommand.ts";
import { surviveClosedStreams } from "./output.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./reportError.ts";
import { UsageError } from "./usageError.ts";

/** What the parser has to say, with the help that is about it. */
const usageErrorOf = (error: CommanderError, program: Command, argv: readonly string[]): UsageError => {
  const problem = error.message.replace(/^error: /, "");
  const { command } = findCommand(program, argv);
  return new UsageError(`${problem}\nSee: ${commandPath(command)} --help`, { cause: error });
};

/** Carries out a command line. Sets the exit code; never throws for what the user did or what a run met. */
export const main = async (argv: readonly string[]): Promise<void> => {
  surviveClosedStreams();
  const program = createProgram();
  try {
    distrustCheckoutOf(process.cwd());
    await program.parseAsync([...argv], { from: "user" });
  } catch (error) {
    // A command line that could not be parsed may still say in which form the answer is expected.
    const answer = { json: argv.includes("--json"), isShown: false };
    if (!(error instanceof CommanderError)) {
      process.exitCode = await reportError(error, answer);
    } else if (error.exitCode === 0) {
      process.exitCode = EXIT_SUCCESS;
    } else if (error.code === "commander.help") {
      // The help for a command line that says nothing has been printed already.
      process.exitCode = EXIT_BAD_USAGE;
    } else {
      process.exitCode = await reportError(usageErrorOf(error, program, argv), answer);
    }
  }
};
