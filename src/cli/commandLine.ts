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

/** The parser proposes names that are spelled alike, but not the name that a word abbreviates, as `env` does. */
const abbreviated = (problem: string, { commands }: Command): string => {
  const [, word] = /^unknown command '([^']+)'$/.exec(problem) ?? [];
  const [name, ...others] = commands
    .map((child) => child.name())
    .filter((each) => each.startsWith(`${word}`));
  return name === undefined || others.length > 0 ? "" : `\n(Did you mean ${name}?)`;
};

/** The error of the parser, with the help command to read. */
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
    `${problem}${abbreviated(problem, command)}${didYouMean(unknown, flags).replace(/^ /, ". ")}${quoting}\nSee: ${sandduneCommand(...words, "--help")}`,
    {
      cause: error,
    },
  );
};

/** `help` with an unknown command: the parser would print the general help, as if nothing were wrong. */
const asksHelpOfUnknown = (program: Command, [first, name = "-"]: readonly string[]): boolean =>
  first === "help" && !name.startsWith("-") && !program.commands.some((command) => command.name() === name);

/** Executes a command line and sets the exit code. Never throws for a mistake of the user or a failure of a run. */
export const main = async (argv: readonly string[]): Promise<void> => {
  surviveClosedStreams();
  const program = createProgram();
  try {
    distrustCheckoutOf(process.cwd());
    // Without "help", the parser reports the unknown name itself.
    const words = asksHelpOfUnknown(program, argv) ? argv.slice(1, 2) : argv;
    await program.parseAsync([...words], { from: "user" });
  } catch (error) {
    // A command line that cannot be parsed may still ask for JSON.
    const answer = { json: argv.includes("--json"), isShown: false };
    if (!(error instanceof CommanderError)) {
      process.exitCode = await reportError(error, answer);
    } else if (error.exitCode === 0) {
      process.exitCode = EXIT_SUCCESS;
    } else if (error.code === "commander.help") {
      // For an empty command line, the help has been printed already.
      process.exitCode = EXIT_BAD_USAGE;
    } else {
      process.exitCode = await reportError(usageErrorOf(error, program, argv), answer);
    }
  }
};
