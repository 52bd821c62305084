import { Command } from "commander";
import type { FinishedExecution } from "../../scenarios/execution/runSuite.ts";
import type { RunnerProblem } from "../../scenarios/report/runnerProblem.ts";
import { EXIT_BAD_USAGE, EXIT_RUN_FAILED, exitCodeOf } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell } from "../shared/output.ts";
import { forPrograms, messageOf, reportError } from "../shared/reportError.ts";
import { StoppedError, stopOnSignals } from "../shared/stopSignals.ts";
import { asRunnerProblem, tellPageProblems } from "./problems.ts";
import { linesOf, showTally, tallyOf, widthOfNames } from "./progress.ts";
import { addScenarioRunFlags, type ScenarioRunFlags } from "./runFlags.ts";
import { planScenarioRun, type ScenarioRunPlan } from "./runPlan.ts";
import { checkReports, type Graded, writeReports } from "./runReports.ts";

const STOPPED = {
  subject: "The execution of the scenarios",
  kept: "The records of those that were over by then are kept.",
  tidying: "ending what runs, and removing the projects",
};

/** Filled while scenarios are executed: an error in between takes nothing of it away. */
interface Grading extends Graded {
  plan?: ScenarioRunPlan;
  readonly finished: FinishedExecution[];
  readonly problems: RunnerProblem[];
}

/** Executes what was planned, and tells how each execution went as soon as it is over. */
const execute = async (
  { run }: ScenarioRunPlan,
  { json }: ScenarioRunFlags,
  { finished, problems }: Grading,
  signal: AbortSignal,
): Promise<void> => {
  const { runSuite } = await import("../../scenarios/execution/runSuite.ts");
  const width = widthOfNames(run);
  await runSuite({
    ...run,
    signal,
    onMirror: (baseUrl) => tell(`Local mirror: ${baseUrl}`),
    onFinished: (each) => {
      finished.push(each);
      if (!json) void print(linesOf(each, width).join("\n"));
    },
    onProblem: (problem, projectPath) => {
      problems.push(problem);
      const kept = projectPath === undefined ? "" : `\n    project: ${projectPath}`;
      void tell(`error: ${problem.subject}: ${problem.message}${kept}`);
    },
  });
};

/** Plans and executes. Resolves with the error that ended it before its end. */
const grade = async (
  dir: string | undefined,
  flags: ScenarioRunFlags,
  grading: Grading,
  signal: AbortSignal,
): Promise<{ readonly error: unknown } | undefined> => {
  try {
    const plan = await planScenarioRun(dir, flags, signal);
    grading.plan = plan;
    grading.problems.push(...plan.problems.map(asRunnerProblem));
    await tellPageProblems(plan.problems);
    await execute(plan, flags, grading, signal);
    return undefined;
  } catch (error) {
    return { error };
  }
};

/** Whatever ends the runner before a verdict is its own error, and no verdict on what it tests. */
const exitCodeFor = (error: unknown): number =>
  error instanceof StoppedError ? exitCodeOf(error) : Math.max(exitCodeOf(error), EXIT_BAD_USAGE);

/** Tells people and programs what the run came to, and decides the exit code. */
const tellResults = async (
  { plan, finished, problems }: Grading,
  failure: { readonly error: unknown } | undefined,
  json: boolean,
): Promise<void> => {
  const tally = tallyOf(finished.map(({ record }) => record));
  const records = finished.map(({ record, recordPath, projectPath }) => ({
    ...record,
    recordPath,
    projectPath,
  }));
  if (json) {
    await printJson({
      ...(plan && { ...tally, problems, records }),
      ...(failure && { error: forPrograms(failure.error) }),
    });
  } else if (failure === undefined || finished.length > 0) {
    await print(`\n${showTally(tally, problems)}`);
  }
  process.exitCode = tally.failing > 0 ? EXIT_RUN_FAILED : 0;
  if (problems.length > 0) process.exitCode = EXIT_BAD_USAGE;
  if (failure === undefined) return;
  await reportError(failure.error, { json: false, isShown: false });
  process.exitCode = exitCodeFor(failure.error);
};

const perform = async (dir: string | undefined, flags: ScenarioRunFlags): Promise<void> => {
  const json = flags.json ?? false;
  const reports = flags.report ?? [];
  using stop = stopOnSignals(STOPPED);
  let hasTold = false;
  try {
    await checkReports(reports);
    const grading: Grading = { finished: [], problems: [] };
    const failure = await grade(dir, flags, grading, stop.signal);
    await tellResults(grading, failure, json);
    hasTold = true;
    const whole = failure && { subject: "sanddune scenario run", message: messageOf(failure.error) };
    await writeReports(reports, { ...grading, problems: [...grading.problems, ...(whole ? [whole] : [])] });
  } catch (error) {
    await reportError(error, { json: json && !hasTold, isShown: false });
    process.exitCode = exitCodeFor(error);
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
