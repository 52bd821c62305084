import type { FinishedExecution, RunnerProblem, ScenarioRunEvent } from "../../scenarios/contract.ts";
import type { ReportModel } from "../../scenarios/report/model.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { withoutPaths } from "./problems.ts";

/** The results of a suite run so far: verdicts, and errors of the runner itself. */
export interface SuiteRunResults {
  /** Not set if the suite run could not be planned. */
  readonly plan?: ScenarioRunEvent & { readonly type: "planned" };
  readonly finished: readonly FinishedExecution[];
  readonly problems: readonly RunnerProblem[];
}

/** A report that cannot be written is refused before anything is executed. */
export const checkReports = async (files: readonly string[]): Promise<void> => {
  if (files.length === 0) return;
  const { checkReportFile } = await import("../../scenarios/report/writeReport.ts");
  for (const file of files) await checkReportFile(file);
};

/** The verdicts with the history that the records contain. Verdicts are reported even if the records cannot be read. */
const modelOf = async ({ plan, finished, problems }: SuiteRunResults): Promise<ReportModel> => {
  const [{ readRecords }, { recordsOf, reportModel }] = await Promise.all([
    import("../../scenarios/records/readRecords.ts"),
    import("../../scenarios/report/model.ts"),
  ]);
  if (plan === undefined || finished.length === 0) return reportModel([], [], problems);
  const executed = finished.map(({ record }) => record);
  const named = plan.executions.filter(({ id }) => executed.some(({ test_id }) => test_id === id));
  const names = [...new Map(named.map((scenario) => [scenario.id, scenario])).values()];
  const written = new Set(finished.flatMap(({ recordPath }) => recordPath ?? []));
  try {
    const { records } = await readRecords(plan.suite.recordsDir, written);
    return reportModel(recordsOf([...records, ...executed], executed), names, problems);
  } catch (error) {
    const unread = {
      subject: "records",
      message: `The history could not be read: ${reasonOf(error)}`,
    };
    return reportModel(executed, names, [...problems, unread]);
  }
};

/** Reports what this suite run has executed, with its history, and the problems of the runner. */
export const writeReports = async (files: readonly string[], results: SuiteRunResults): Promise<void> => {
  if (files.length === 0) return;
  const { writeReport } = await import("../../scenarios/report/writeReport.ts");
  const problems = await withoutPaths(results.problems, results.plan?.suite);
  const model = await modelOf({ ...results, problems });
  for (const file of files) await writeReport(model, file);
};
