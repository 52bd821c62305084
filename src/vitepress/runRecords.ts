import { h, type VNode } from "vue";
import { notShown } from "../markup/words.ts";
import type { ScenarioRecord } from "../scenarios/records/record.ts";
import type { RunnerHistory } from "../scenarios/report/model.ts";
import { byWhom, showRate, tookTime } from "../scenarios/report/words.ts";
import { executionDetails } from "./executionDetails.ts";
import { badge, ciLink, frame, moment, table, unreadableNote, words } from "./parts.ts";
import { type ShownRecords, useSiteComponents } from "./shownRecords.ts";
import { SHOWN_EXECUTIONS } from "./siteRecords.ts";

/** The properties of `<RunRecords>`. */
export interface RunRecordsProps {
  /** The id of the scenario. */
  readonly testId: string;
}

const COLUMNS = ["Result", "When", "Took", "CI"];

const rows = (record: ScenarioRecord): VNode[] => [
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

export const showRecords = ({ model, unreadable }: ShownRecords, testId: string): unknown => {
  const runners = model.scenarios.find(({ id }) => id === testId)?.runners ?? [];
  const executions = runners
    .flatMap((runner) => runner.executions)
    .toSorted((a, b) => Date.parse(b.started_at) - Date.parse(a.started_at));
  const notes = unreadableNote(unreadable);
  if (executions.length === 0) return frame(h("p", "This scenario was never executed."), notes);
  const hidden = executions.length - SHOWN_EXECUTIONS;
  return frame(
    ...rates(runners),
    table(COLUMNS, executions.slice(0, SHOWN_EXECUTIONS).flatMap(rows)),
    hidden > 0 ? h("p", { class: "quiet" }, notShown(hidden, "older execution")) : undefined,
    notes,
  );
};

/** `<RunRecords test-id="…" />`: the executions of one scenario, newest first, with their steps and assertions. */
export const RunRecords: { readonly props: string[]; setup(props: RunRecordsProps): () => unknown } = {
  props: ["testId"],
  setup: (props) => {
    const { ofScenario } = useSiteComponents();
    return () => h(ofScenario(props.testId) as never);
  },
};
