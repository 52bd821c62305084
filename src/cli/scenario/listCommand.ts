import { Command } from "commander";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { asRunnerProblem } from "../../scenarios/pages/pageProblem.ts";
import type { Scenario } from "../../scenarios/spec.ts";
import { SUITE_CWD_FLAG } from "../shared/cwdFlag.ts";
import { EXIT_BAD_USAGE } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, terminalColumns } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { textTable } from "../shared/textTable.ts";
import { tellPageProblems } from "./problems.ts";

interface ListFlags {
  readonly cwd?: string;
  readonly config?: string;
  readonly json?: boolean;
}

const forPrograms = ({ id, title, page, spec }: Scenario): object => ({
  id,
  runnable: spec.runnable,
  ide_platform: spec.ide_platform ?? null,
  fixture: spec.fixture ?? null,
  title,
  page,
});

const HEADINGS = ["ID", "RUNNABLE", "AGENT", "FIXTURE", "TITLE"];

const cellsOf = ({ id, title, spec }: Scenario): string[] => [
  id,
  spec.runnable,
  spec.ide_platform ?? "-",
  spec.fixture ?? "-",
  title,
];

const perform = async ({ json, ...choice }: ListFlags, dir: string | undefined): Promise<void> => {
  // Imported late: help and completions do not load the code that reads pages.
  const { checkSuite } = await import("../../scenarios/suite/checkSuite.ts");
  const { suite, scenarios, problems } = await checkSuite({ ...choice, dir });
  if (json) await printJson({ scenarios: scenarios.map(forPrograms), problems });
  else if (scenarios.length > 0)
    await print(textTable(HEADINGS, scenarios.map(cellsOf), terminalColumns()).join("\n"));
  else if (problems.length === 0)
    await print(
      `There are no scenarios in ${suite.scenarioDir}. For one: ${sandduneCommand("scenario", "new", "my-scenario")}`,
    );
  await tellPageProblems(problems.map(asRunnerProblem));
  if (problems.length > 0) process.exitCode = EXIT_BAD_USAGE;
};

/** `sanddune scenario list`: lists the scenarios of a suite, and checks their pages. */
export const createScenarioListCommand = (): Command =>
  withExamples(
    new Command("list")
      .description("Lists the scenarios of a suite, and checks all of its pages and fixtures.")
      .argument("[dir]", "the directory of the pages (default: the config file's)")
      .option("--config <file>", "the suite's config file (default: .sanddune/scenarios.json)")
      .option(...SUITE_CWD_FLAG)
      .option("--json", "print scenarios and problems as one JSON object")
      .action(performing(perform)),
    { title: "List the scenarios, and check all pages", command: "sanddune scenario list" },
    {
      title: "List the ids of scenarios that need an agent",
      command: `sanddune scenario list --json |\\
        jq -r '.scenarios[] | select(.runnable == "agent").id'`,
    },
  );
