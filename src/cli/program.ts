import { Command } from "commander";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { version } from "../tools/version.ts";
import { createCompleteCommand } from "./completion/completeCommand.ts";
import { createCompletionsCommand } from "./completion/completionsCommand.ts";
import { createDoctorCommand } from "./doctorCommand.ts";
import { createEnvCommand } from "./environment/command.ts";
import { createMcpCommand } from "./environment/mcpCommand.ts";
import { createDockerCommand, createPodmanCommand } from "./image/commands.ts";
import { createInitCommand } from "./init/command.ts";
import { createTrustCommand } from "./project/trustCommand.ts";
import { createReplayCommand } from "./replay/command.ts";
import { createRunCommand } from "./run/runCommand.ts";
import { createCleanCommand } from "./runs/cleanCommand.ts";
import { createLogsCommand } from "./runs/logsCommand.ts";
import { createPsCommand } from "./runs/psCommand.ts";
import { createRescueCommand } from "./runs/rescueCommand.ts";
import { createStopCommand } from "./runs/stopCommand.ts";
import { createScenarioCommand } from "./scenario/command.ts";
import { withExamples } from "./shared/helpExamples.ts";

const notes = (): string => `
Help of a command: ${sandduneCommand()} <command> --help
The stack of an error: SANDDUNE_DEBUG=1 ${sandduneCommand()} …`;

/** Commands inherit the settings of the program, above all that the parser throws instead of ending the process. */
const inheritSettings = (command: Command): void => {
  for (const child of command.commands) {
    inheritSettings(child.copyInheritedSettings(command).helpCommand(false));
  }
};

/** All commands, in the groups in which the help shows them. */
export const createProgram = (): Command => {
  const program = new Command("sanddune")
    .description("Runs a coding agent in a sandbox and imports its commits into a branch.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .configureOutput({ outputError: () => {} })
    .exitOverride();
  program
    .commandsGroup("Set up:")
    .addCommand(createInitCommand())
    .addCommand(createDockerCommand())
    .addCommand(createPodmanCommand())
    .addCommand(createDoctorCommand())
    .addCommand(createTrustCommand());
  program.commandsGroup("Run:").addCommand(createRunCommand());
  program
    .commandsGroup("Manage runs:")
    .addCommand(createPsCommand())
    .addCommand(createLogsCommand())
    .addCommand(createReplayCommand())
    .addCommand(createStopCommand())
    .addCommand(createRescueCommand())
    .addCommand(createCleanCommand());
  program
    .commandsGroup("Test and grade:")
    .addCommand(createEnvCommand())
    .addCommand(createMcpCommand())
    .addCommand(createScenarioCommand());
  program
    .commandsGroup("Other:")
    .addCommand(createCompletionsCommand())
    .addCommand(createCompleteCommand(), { hidden: true })
    .helpCommand("help [command]", "print the help of a command");
  inheritSettings(program);
  return withExamples(
    program,
    {
      title: "Set up this repository, then check the machine",
      command: "sanddune init && sanddune doctor",
    },
    {
      title: "Get commits on a branch",
      command: "sanddune run --branch agent/fix-42 'Fix issue 42'",
    },
    { title: "Watch the runs", command: "sanddune ps --watch" },
  ).addHelpText("after", notes);
};
