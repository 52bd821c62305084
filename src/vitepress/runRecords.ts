import { h, type VNode } from "vue";
import type { RunRecord } from "../scenarios/record.ts";
import type { RunnerHistory } from "../scenarios/report/model.ts";
import { byWhom, notShown, showRate, tookTime } from "../scenarios/report/words.ts";
import { executionDetails } from "./executionDetails.ts";
import { badge, ciLink, frame, moment, table, unreadableNote, words } from "./parts.ts";
import { useShownRecords } from "./shownRecords.ts";

/** More is for the report; a page has to load. */
const SHOWN = 20;

/** The properties of `<RunRecords>`. */
export interface RunRecordsProps {
  /** The id of the scenario. */
  readonly testId: string;
}

const COLUMNS = ["Result", "When", "Took", "CI"];

const rows = (record: RunRecord): VNode[] => [
  h("tr", [
    h("td", { class: "whole" }, [badge(record.result)]),
    h("td", { class: "whole" }, [moment(record.started_at)]),
    h("td", { class: "whole" }, tookTime(record)),
    h("td", { class: "whole" }, [ciLink(record)]),
  ]),
  h("tr", { class: "details" }, [h("td", { colspan: COLUMNS.length }, [executionDetails(record)])]),
];

const rates = (runners: readonly RunnerHistory[]): VNode[] =>
  runners.flatMap(({ flakeRate, ...runner }) =>
    flakeRate === undefined
      ? []
      : [h("p", words(`Flake rate ${byWhom(runner)}, when last repeated: ${showRate(flakeRate)}`))],
  );

const show = ({ testId }: RunRecordsProps): VNode => {
  const { model, unreadable } = useShownRecords();
  const runners = model.scenarios.find(({ id }) => id === testId)?.runners ?? [];
  const executions = runners
    .flatMap((runner) => runner.executions)
    .toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at));
  // Paths have the id as their directory: the others are told where they belong.
  const notes = unreadableNote(unreadable.filter((path) => path.split("/").includes(testId)));
  if (executions.length === 0) return frame(h("p", "This scenario was never executed."), notes);
  const hidden = executions.length - SHOWN;
  return frame(
    ...rates(runners),
    table(COLUMNS, executions.slice(0, SHOWN).flatMap(rows)),
    hidden > 0 ? h("p", { class: "quiet" }, notShown(hidden, "older execution")) : undefined,
    notes,
  );
};

/** `<RunRecords test-id="…" />`: the executions of one scenario, newest first, with their steps and assertions. */
export const RunRecords: { (props: RunRecordsProps): unknown; props: string[] } = Object.assign(
  (props: RunRecordsProps): unknown => show(props),
  { props: ["testId"] },
);
