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
