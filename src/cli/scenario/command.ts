import { Command } from "commander";
import { withExamples } from "../shared/helpExamples.ts";
import { createScenarioListCommand } from "./listCommand.ts";
import { createScenarioNewCommand } from "./newCommand.ts";
import { createScenarioReportCommand } from "./reportCommand.ts";
import { createScenarioRunCommand } from "./runCommand.ts";

/** `sanddune scenario …`. */
export const createScenarioCommand = (): Command =>
  withExamples(
    new Command("scenario")
      .description("Grades agents and command-line tools with scenarios, and records the results.")
      .addCommand(createScenarioRunCommand())
      .addCommand(createScenarioListCommand())
      .addCommand(createScenarioNewCommand())
      .addCommand(createScenarioReportCommand()),
    {
      title: "Write a first scenario, and execute it",
      command: "sanddune scenario new install-node && sanddune scenario run",
    },
    { title: "Show the results", command: "sanddune scenario report" },
  );
