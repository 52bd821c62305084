import type { ScenarioRecord, StepRecord } from "../scenarios/records/record.ts";
import { byNewest, groupsBy } from "../scenarios/report/model.ts";
import { suiteRunsOf } from "../scenarios/report/suiteRuns.ts";
import { runnerName } from "../scenarios/report/words.ts";
import { SHOWN_CHARACTERS, SHOWN_EXECUTIONS } from "./siteRecords.ts";

/** One more than is shown, so that the page knows whether there are more. */
const endOf = (text: string): string => text.slice(-SHOWN_CHARACTERS - 1);

const trimStep = ({ tool_edits: _, stdout_tail, stderr_tail, ...step }: StepRecord): StepRecord => ({
  ...step,
  ...(stdout_tail !== undefined && { stdout_tail: endOf(stdout_tail) }),
  ...(stderr_tail !== undefined && { stderr_tail: endOf(stderr_tail) }),
});

/** A record, cut to what a page shows. */
const trimmed = (record: ScenarioRecord): ScenarioRecord => ({
  ...record,
  steps: record.steps.map(trimStep),
  notes: record.notes === null ? null : endOf(record.notes),
});

/** A record that counts, without steps and assertions. */
const outlined = (record: ScenarioRecord): ScenarioRecord => ({
  ...record,
  steps: [],
  assertions: [],
  notes: null,
});

const byRunner = (records: readonly ScenarioRecord[]): readonly (readonly ScenarioRecord[])[] => [
  ...groupsBy(records.toSorted(byNewest), ({ test_id, runner }) =>
    JSON.stringify([test_id, runnerName(runner)]),
  ).values(),
];

/** The records of the summary: the newest suite run of each runner, and the newest one with repetitions. */
export const forSummary = (records: readonly ScenarioRecord[]): readonly ScenarioRecord[] =>
  byRunner(records).flatMap((executions) => {
    const suiteRuns = suiteRunsOf(executions);
    const repeated = suiteRuns.find(
      (suiteRun) => suiteRun.filter(({ result }) => result !== "manual").length > 1,
    );
    return [...new Set([...(suiteRuns[0] ?? []), ...(repeated ?? [])])].map(outlined);
  });

/** The records of a scenario's page: all of them, the newest ones with steps and assertions. */
export const forScenario = (records: readonly ScenarioRecord[]): readonly ScenarioRecord[] =>
  byRunner(records).flatMap((executions) =>
    executions.map((record, index) => (index < SHOWN_EXECUTIONS ? trimmed(record) : outlined(record))),
  );
