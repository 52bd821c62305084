import type { FinishedExecution } from "../../scenarios/execution/runSuite.ts";
import type { ReportModel } from "../../scenarios/report/model.ts";
import type { RunnerProblem } from "../../scenarios/report/runnerProblem.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { withoutPaths } from "./problems.ts";
import type { ScenarioRunPlan } from "./runPlan.ts";

/** What a run has come to so far: verdicts, and errors of the runner itself. */
export interface Graded {
  /** Not there if the command line could not be carried out at all. */
  readonly plan?: ScenarioRunPlan;
  readonly finished: readonly FinishedExecution[];
  readonly problems: readonly RunnerProblem[];
}

/** A report that cannot be written is refused before anything is executed. */
export const checkReports = async (files: readonly string[]): Promise<void> => {
  if (files.length === 0) return;
  const { checkReportFile } = await import("../../scenarios/report/writeReport.ts");
  for (const file of files) await checkReportFile(file);
};

/** The verdicts as they were made, with the history that the records tell. Nothing is lost if these cannot be read. */
const modelOf = async ({ plan, finished, problems }: Graded): Promise<ReportModel> => {
  const [{ readRecords }, { namesOf, recordsOf, reportModel }] = await Promise.all([
    import("../../scenarios/records/readRecords.ts"),
    import("../../scenarios/report/model.ts"),
  ]);
  if (plan === undefined || finished.length === 0) return reportModel([], [], problems);
  const { recordsDir } = plan.run.suite;
  const executed = finished.map(({ record }) => record);
  const named = plan.scenarios.filter(({ id }) => executed.some(({ test_id }) => test_id === id));
  const written = new Set(finished.flatMap(({ recordPath }) => recordPath ?? []));
  try {
    const { records } = await readRecords(recordsDir, written);
    return reportModel(recordsOf([...records, ...executed], executed), namesOf(named), problems);
  } catch (error) {
    const unread = {
      subject: "records",
      message: `The history could not be read: ${reasonOf(error)}`,
    };
    return reportModel(executed, namesOf(named), [...problems, unread]);
  }
};

/** Reports what this suite run has executed, with its history, and what the runner has failed at. */
export const writeReports = async (files: readonly string[], graded: Graded): Promise<void> => {
  if (files.length === 0) return;
  const { writeReport } = await import("../../scenarios/report/writeReport.ts");
  const problems = await withoutPaths(graded.problems, graded.plan?.run.suite);
  const model = await modelOf({ ...graded, problems });
  for (const file of files) await writeReport(model, file);
};
