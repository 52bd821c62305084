import { Command } from "commander";
import { withExamples } from "./helpExamples.ts";
import { createScenarioListCommand } from "./scenarioListCommand.ts";
import { createScenarioNewCommand } from "./scenarioNewCommand.ts";
import { createScenarioReportCommand } from "./scenarioReportCommand.ts";
import { createScenarioRunCommand } from "./scenarioRunCommand.ts";

/** `sanddune scenario …`. */
export const createScenarioCommand = (): Command =>
  withExamples(
    new Command("scenario")
      .description("Grades agents and command-line tools by scenarios, and keeps the records.")
      .addCommand(createScenarioRunCommand())
      .addCommand(createScenarioListCommand())
      .addCommand(createScenarioNewCommand())
      .addCommand(createScenarioReportCommand()),
    {
      title: "Write the first one, then execute it",
      command: "sanddune scenario new install-node && sanddune scenario run",
    },
    { title: "Look at the results", command: "sanddune scenario report" },
  );
