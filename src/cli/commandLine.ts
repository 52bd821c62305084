import { type Command, CommanderError } from "commander";
import { didYouMean } from "../options/checks/checks.ts";
import { distrustCheckoutOf } from "../process/hostPrograms.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { findCommand, wordsOf } from "./findCommand.ts";
import { createProgram } from "./program.ts";
import { EXIT_BAD_USAGE, EXIT_SUCCESS } from "./shared/exitCodes.ts";
import { surviveClosedStreams } from "./shared/output.ts";
import { reportError } from "./shared/reportError.ts";
import { UsageError } from "./shared/usageError.ts";

/** What the parser has to say, with the help that is about it. */
const usageErrorOf = (error: CommanderError, program: Command, argv: readonly string[]): UsageError => {
  const problem = error.message.replace(/^error: /, "");
  const { command } = findCommand(program, argv);
  const [, unknown] = /^unknown option '([^']+)'$/.exec(problem) ?? [];
  const flags = command.options.flatMap(({ long }) => long ?? []);
  const words = wordsOf(command);
  const takesPrompt = command.registeredArguments[0]?.name() === "prompt";
  const quoting =
    error.code === "commander.excessArguments" && takesPrompt
      ? `\nWrite the prompt in quotes: ${sandduneCommand(...words, "Fix issue 42")}`
      : "";
  return new UsageError(
    `${problem}${didYouMean(unknown, flags).replace(/^ /, ". ")}${quoting}\nSee: ${sandduneCommand(...words, "--help")}`,
    {
      cause: error,
    },
  );
};

/** `help` of what is no command: the parser would print the help of all, as if nothing were wrong. */
const asksHelpOfNone = (program: Command, [first, name = "-"]: readonly string[]): boolean =>
  first === "help" && !name.startsWith("-") && !program.commands.some((command) => command.name() === name);

/** Carries out a command line. Sets the exit code; never throws for what the user did or what a run met. */
export const main = async (argv: readonly string[]): Promise<void> => {
  surviveClosedStreams();
  const program = createProgram();
  try {
    distrustCheckoutOf(process.cwd());
    // The parser says itself what is wrong with the name.
    const words = asksHelpOfNone(program, argv) ? argv.slice(1, 2) : argv;
    await program.parseAsync([...words], { from: "user" });
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
