import { Command } from "commander";
import { runScenarios } from "../../runScenarios.ts";
import type { FinishedExecution, RunnerProblem, ScenarioRunEvent } from "../../scenarios/contract.ts";
import { countResults } from "../../scenarios/records/countResults.ts";
import { EXIT_BAD_USAGE, EXIT_RUN_FAILED, exitCodeOf } from "../shared/exitCodes.ts";
import { withExamples } from "../shared/helpExamples.ts";
import { print, printJson, tell } from "../shared/output.ts";
import { forPrograms, messageOf, reportError } from "../shared/reportError.ts";
import { StoppedError, stopOnSignals } from "../shared/stopSignals.ts";
import { tellPageProblems } from "./problems.ts";
import { linesOf, showCounts, widthOfNames } from "./progress.ts";
import { addScenarioRunFlags, type ScenarioRunFlags } from "./runFlags.ts";
import { runOptionsOf } from "./runOptions.ts";
import { checkReports, type SuiteRunResults, writeReports } from "./runReports.ts";

const STOPPED = {
  subject: "The execution of the scenarios",
  kept: "Records that were written by then are kept.",
  tidying: "ending all processes, and removing the projects",
};

/** Filled while scenarios are executed: an error in between loses none of it. */
interface Results extends SuiteRunResults {
  plan?: SuiteRunResults["plan"];
  readonly finished: FinishedExecution[];
  readonly problems: RunnerProblem[];
}

/** Collects what happens, and prints it. */
const progressInto = (results: Results, isJson: boolean) => {
  let width = 0;
  return (event: ScenarioRunEvent): void => {
    switch (event.type) {
      case "planned":
        results.plan = event;
        width = widthOfNames(event.executions);
        results.problems.push(...event.problems);
        void tellPageProblems(event.problems);
        break;
      case "mirrorStarted":
        void tell(`Local mirror: ${event.baseUrl}`);
        break;
      case "finished":
        results.finished.push(event.execution);
        if (!isJson) void print(linesOf(event.execution, width).join("\n"));
        break;
      case "problem": {
        const { problem, projectPath } = event;
        results.problems.push(problem);
        const kept = projectPath === undefined ? "" : `\n    project: ${projectPath}`;
        void tell(`error: ${problem.subject}: ${problem.message}${kept}`);
      }
    }
  };
};

/** Resolves with the error that ended the suite run early. */
const execute = async (
  dir: string | undefined,
  flags: ScenarioRunFlags,
  results: Results,
  signal: AbortSignal,
): Promise<{ readonly error: unknown } | undefined> => {
  try {
    const onProgress = progressInto(results, flags.json ?? false);
    await runScenarios({ ...runOptionsOf(dir, flags, process.env), signal, onProgress });
    return undefined;
  } catch (error) {
    return { error };
  }
};

/** An error that ends the runner is not a verdict on the tested product. */
const exitCodeFor = (error: unknown): number =>
  error instanceof StoppedError ? exitCodeOf(error) : Math.max(exitCodeOf(error), EXIT_BAD_USAGE);

/** Prints the results, and sets the exit code. */
const tellResults = async (
  { plan, finished, problems }: Results,
  failure: { readonly error: unknown } | undefined,
  json: boolean,
): Promise<void> => {
  const counts = countResults(finished.map(({ record }) => record));
  const records = finished.map(({ record, recordPath, projectPath }) => ({
    ...record,
    recordPath,
    projectPath,
  }));
  if (json) {
    await printJson({
      ...(plan && { ...counts, problems, records }),
      ...(failure && { error: forPrograms(failure.error) }),
    });
  } else if (failure === undefined || finished.length > 0) {
    await print(`\n${showCounts(counts, problems)}`);
  }
  process.exitCode = counts.failing > 0 ? EXIT_RUN_FAILED : 0;
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
    const results: Results = { finished: [], problems: [] };
    const failure = await execute(dir, flags, results, stop.signal);
    await tellResults(results, failure, json);
    hasTold = true;
    const whole = failure && { subject: "sanddune scenario run", message: messageOf(failure.error) };
    await writeReports(reports, { ...results, problems: [...results.problems, ...(whole ? [whole] : [])] });
  } catch (error) {
    await reportError(error, { json: json && !hasTold, isShown: false });
    process.exitCode = exitCodeFor(error);
  }
};

const NOTES = `
A scenario is executed in a copy of its fixture. Agents, and all commands that
may run their code, are executed in the sandbox. Without --sandbox, agents get
the sandbox of .sanddune/config.json, and other scenarios run on this machine.

If an agent is unavailable (no key, not installed, no network), the scenario is
"manual". Overrides: SANDDUNE_AGENT_PROVIDER, SANDDUNE_AGENT_MODEL,
SANDDUNE_AGENT_TIMEOUT_MS.

Exit codes:
  0  all passing or manual      1  at least one is failing
  2  an error of a page, a fixture, the config file or the runner itself
  130, 143  stopped by Ctrl-C, by SIGTERM`;

/** `sanddune scenario run`: executes scenarios, grades them and writes their records. */
export const createScenarioRunCommand = (): Command =>
  withExamples(
    addScenarioRunFlags(
      new Command("run")
        .description("Executes scenarios, grades their projects, and writes a record of each.")
        .argument("[dir]", "the directory of the pages (default: the config file's)"),
    ),
    { title: "Execute all scenarios that need no agent", command: "sanddune scenario run" },
    {
      title: "Execute two scenarios, and keep their projects",
      command: "sanddune scenario run --only=install-node,sync-clean --keep-tmp",
    },
    {
      title: "Let an agent execute scenarios, in containers",
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
