import { Command } from "commander";
import type { Finished } from "../scenarios/runSuite.ts";
import { EXIT_BAD_USAGE, EXIT_RUN_FAILED, exitCodeOf } from "./exitCodes.ts";
import { withExamples } from "./helpExamples.ts";
import { print, printJson, tell } from "./output.ts";
import { reportError } from "./reportError.ts";
import { tellPageProblems } from "./scenarioProblems.ts";
import { linesOf, type Problem, showTally, tallyOf, widthOfNames } from "./scenarioProgress.ts";
import { addScenarioRunFlags, type ScenarioRunFlags } from "./scenarioRunFlags.ts";
import { planScenarioRun, type ScenarioRunPlan } from "./scenarioRunPlan.ts";
import { abortOnStopSignals, StoppedError } from "./stopSignals.ts";

const STOPPED = {
  subject: "The execution of the scenarios",
  kept: "The records of those that were over by then are kept.",
  tidying: "ending what runs, and removing the projects",
};

/** A report that cannot be written is told before anything is executed. */
const checkReports = async (files: readonly string[]): Promise<void> => {
  if (files.length === 0) return;
  const { checkReportFile } = await import("../scenarios/report/writeReport.ts");
  for (const file of files) await checkReportFile(file);
};

/** Reports what this go has executed, with its history. */
const writeReports = async (
  files: readonly string[],
  { run, scenarios }: ScenarioRunPlan,
  finished: readonly Finished[],
): Promise<void> => {
  if (files.length === 0) return;
  const [{ readRecords }, { namesOf, recordsOf, reportModel }, { writeReport }] = await Promise.all([
    import("../scenarios/records/readRecords.ts"),
    import("../scenarios/report/model.ts"),
    import("../scenarios/report/writeReport.ts"),
  ]);
  const { records } = await readRecords(run.suite.recordsDir);
  const executed = finished.map(({ record }) => record);
  const named = scenarios.filter(({ id }) => executed.some(({ test_id }) => test_id === id));
  const model = reportModel(recordsOf(records, executed), namesOf(named));
  for (const file of files) await writeReport(model, file);
};

/** Executes what was planned, and tells how each execution went as soon as it is over. */
const execute = async (
  { run }: ScenarioRunPlan,
  { json }: ScenarioRunFlags,
  signal: AbortSignal,
): Promise<{ readonly finished: readonly Finished[]; readonly problems: readonly Problem[] }> => {
  const { runSuite } = await import("../scenarios/runSuite.ts");
  const finished: Finished[] = [];
  const problems: Problem[] = [];
  const width = widthOfNames(run);
  await runSuite({
    ...run,
    signal,
    onMirror: (baseUrl) => tell(`Local mirror: ${baseUrl}`),
    onFinished: (each) => {
      finished.push(each);
      if (!json) void print(linesOf(each, width).join("\n"));
    },
    onProblem: (subject, { message }, projectPath) => {
      problems.push({ subject, message });
      const kept = projectPath === undefined ? "" : `\n    project: ${projectPath}`;
      void tell(`error: ${subject}: ${message}${kept}`);
    },
  });
  return { finished, problems };
};

const perform = async (dir: string | undefined, flags: ScenarioRunFlags): Promise<void> => {
  const json = flags.json ?? false;
  const reports = flags.report ?? [];
  using stop = abortOnStopSignals(STOPPED);
  try {
    await checkReports(reports);
    const plan = await planScenarioRun(dir, flags, stop.signal);
    await tellPageProblems(plan.problems);
    const { finished, problems } = await execute(plan, flags, stop.signal);
    const tally = tallyOf(finished.map(({ record }) => record));
    const all = [
      ...plan.problems.map(({ page, line, problem }) => ({ subject: `${page}:${line}`, message: problem })),
      ...problems,
    ];
    if (json) {
      const records = finished.map(({ record, ...places }) => ({
        ...record,
        recordPath: places.recordPath,
        projectPath: places.projectPath,
      }));
      await printJson({ ...tally, problems: all, records });
    } else await print(`\n${showTally(tally, all)}`);
    process.exitCode = tally.failing > 0 ? EXIT_RUN_FAILED : 0;
    if (all.length > 0) process.exitCode = EXIT_BAD_USAGE;
    // Last: whatever becomes of them, the results have been told.
    await writeReports(reports, plan, finished);
  } catch (error) {
    const exitCode = await reportError(error, {
      json: json && process.exitCode === undefined,
      isShown: false,
    });
    // Whatever went wrong before a verdict is the runner's, and no verdict on what it tests.
    process.exitCode = error instanceof StoppedError ? exitCodeOf(error) : Math.max(exitCode, EXIT_BAD_USAGE);
  }
};

const NOTES = `
Everything of a scenario is done in a copy of its fixture. What agents do, and
whatever could run their code, is done in the sandbox; without --sandbox, it is
that of .sanddune/config.json, and scenarios without an agent run right here.

An agent that cannot be had (no key, not installed, no network) makes a
scenario "manual". Overrides: SANDDUNE_AGENT_PROVIDER, SANDDUNE_AGENT_MODEL,
SANDDUNE_AGENT_TIMEOUT_MS.

Exit codes:
  0  all passing or manual      1  at least one is failing
  2  a page, a fixture, the config file or the runner itself is at fault
  130, 143  stopped by Ctrl-C, by SIGTERM`;

/** `sanddune scenario run`: executes scenarios, grades them and writes their records. */
export const createScenarioRunCommand = (): Command =>
  withExamples(
    addScenarioRunFlags(
      new Command("run")
        .description("Executes scenarios, grades what has become of their projects, and keeps the records.")
        .argument("[dir]", "the directory of the scenarios (default: that of the config file)"),
    ),
    { title: "Every scenario that needs no agent", command: "sanddune scenario run" },
    {
      title: "Two of them, and then a look at what they did",
      command: "sanddune scenario run --only=install-node,sync-clean --keep-tmp",
    },
    {
      title: "Those that need an agent, in containers",
      command: `sanddune scenario run --runnable=agent --sandbox docker \\
        --agent claude-code`,
    },
    {
      title: "In a CI job",
      command: 'sanddune scenario run --ci="$RUN_URL" --report junit.xml --keep 20',
    },
  )
    .addHelpText("after", NOTES)
    .action((dir, flags) => perform(dir, flags));
