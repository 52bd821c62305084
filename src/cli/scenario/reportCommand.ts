import { Command } from "commander";
import { asRunnerProblem } from "../../scenarios/pages/pageProblem.ts";
import { REPORT_FORMATS, type ReportFormat } from "../../scenarios/report/formats.ts";
import type { ReportModel } from "../../scenarios/report/model.ts";
import type { SuiteChoice } from "../../scenarios/suite/suiteFile.ts";
import { collect } from "../run/runValues.ts";
import { SUITE_CWD_FLAG } from "../shared/cwdFlag.ts";
import { EXIT_BAD_USAGE } from "../shared/exitCodes.ts";
import { choices } from "../shared/flagChoices.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, tell } from "../shared/output.ts";
import { performing } from "../shared/performing.ts";
import { UsageError } from "../shared/usageError.ts";
import { tellPageProblems, withoutPaths } from "./problems.ts";

interface ReportFlags {
  readonly cwd?: string;
  readonly config?: string;
  readonly output?: readonly string[];
  readonly format?: string;
}

const DEFAULT_OUTPUT = "scenario-report.html";
const STANDARD_OUTPUT = "-";

const checkFormat = (format: string | undefined): ReportFormat | undefined => {
  const known = REPORT_FORMATS.find((each) => each === format);
  if (format !== undefined && known === undefined) {
    throw new UsageError(
      `--format: expected one of: ${REPORT_FORMATS.join(", ")}; got ${JSON.stringify(format)}.`,
    );
  }
  return known;
};

/** Checks the files before anything is read or written. */
const checkFiles = async (files: readonly string[], format: ReportFormat | undefined): Promise<void> => {
  const { checkReportFile, formatOf } = await import("../../scenarios/report/writeReport.ts");
  for (const file of files) {
    if (format === undefined && formatOf(file) === undefined) {
      throw new UsageError(
        `--output ${JSON.stringify(file)} does not end in .html, .xml or .md. Add --format ${REPORT_FORMATS.join("|")}.`,
      );
    }
    await checkReportFile(file, format);
  }
};

/** Reads all records. Mistakes of pages and fixtures are errors in the report; other files are left out. */
const readModel = async (choice: SuiteChoice): Promise<ReportModel> => {
  const [{ checkSuite }, { readRecords }, { namesOf, reportModel }] = await Promise.all([
    import("../../scenarios/suite/checkSuite.ts"),
    import("../../scenarios/records/readRecords.ts"),
    import("../../scenarios/report/model.ts"),
  ]);
  const { suite, scenarios, ...checked } = await checkSuite(choice);
  const problems = checked.problems.map(asRunnerProblem);
  const read = await readRecords(suite.recordsDir);
  await tellPageProblems(problems);
  for (const problem of read.problems) await tell(`Left out: ${problem}`);
  if (problems.length > 0) process.exitCode = EXIT_BAD_USAGE;
  const shown = await withoutPaths(problems, suite);
  return reportModel(read.records, namesOf(scenarios), shown);
};

const perform = async (flags: ReportFlags, dir: string | undefined): Promise<void> => {
  const format = checkFormat(flags.format);
  const outputs = flags.output ?? [DEFAULT_OUTPUT];
  const files = outputs.filter((output) => output !== STANDARD_OUTPUT);
  await checkFiles(files, format);
  const model = await readModel({ cwd: flags.cwd, config: flags.config, dir });
  const { renderReport, writeReport } = await import("../../scenarios/report/writeReport.ts");
  for (const file of files) await writeReport(model, file, format);
  if (outputs.includes(STANDARD_OUTPUT)) await print(renderReport(model, format ?? "markdown"));
  else await print(files.join("\n"));
};

const NOTES = `
The extension of the file selects the format: .html, .xml (JUnit) or .md. Other
names need --format. "-" prints the report, by default as Markdown. An existing
file is replaced only if it is a report of sanddune.`;

/** `sanddune scenario report`: writes a report of all records. */
export const createScenarioReportCommand = (): Command =>
  withExamples(
    new Command("report")
      .description("Writes a report of all records: HTML for people, JUnit XML or Markdown for CI.")
      .argument("[dir]", "the directory of the pages (default: the config file's)")
      .option("--config <file>", "the suite's config file (default: .sanddune/scenarios.json)")
      .option(...SUITE_CWD_FLAG)
      .option(
        "--output <file>",
        `the file of the report, "-" for standard output (repeatable; default: ${DEFAULT_OUTPUT})`,
        collect,
      )
      .addOption(
        choices(
          "--format <format>",
          "the format of the report (default: by the file's extension)",
          REPORT_FORMATS,
        ),
      )
      .action(performing(perform)),
    { title: "Show the results", command: "sanddune scenario report && open scenario-report.html" },
    {
      title: "In a CI job",
      command:
        'sanddune scenario report --output junit.xml\nsanddune scenario report --output - >> "$GITHUB_STEP_SUMMARY"',
    },
  ).addHelpText("after", NOTES);
