import { CommanderError } from "commander";
import { EXIT_BAD_USAGE, EXIT_SUCCESS } from "./exitCodes.ts";
import { surviveClosedStreams } from "./output.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./reportError.ts";
import { UsageError } from "./usageError.ts";

/** Help and version have been printed already, and so has the help for a command line that says nothing. */
const exitCodeOfParser = async (error: CommanderError, argv: readonly string[]): Promise<number> => {
  if (error.exitCode === 0) return EXIT_SUCCESS;
  if (error.code === "commander.help") return EXIT_BAD_USAGE;
  const problem = `${error.message.replace(/^error: /, "")}\nSee: sanddune run --help`;
  // A command line that could not be parsed may still say in which form the answer is expected.
  return reportError(new UsageError(problem), { json: argv.includes("--json"), isShown: false });
};

/** Carries out a command line. Sets the exit code; never throws for what the user did or what a run met. */
export const main = async (argv: readonly string[]): Promise<void> => {
  surviveClosedStreams();
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = await exitCodeOfParser(error, argv);
  }
};
