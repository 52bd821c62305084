import { h, type VNode } from "vue";
import type { RunnerHistory, ScenarioHistory } from "../scenarios/report/model.ts";
import { briefRate, byWhom, showCounts, showRate, tookTime } from "../scenarios/report/words.ts";
import { badge, ciLink, frame, moment, table, unreadableNote, words } from "./parts.ts";
import { type ShownRecords, useSiteComponents } from "./shownRecords.ts";

const name = ({ id, title }: ScenarioHistory, { links }: ShownRecords): VNode | string => {
  const href = links.get(id);
  return href === undefined ? words(title) : h("a", { href }, words(title));
};

const flakiness = ({ flakeRate }: RunnerHistory): VNode | undefined =>
  flakeRate && h("div", { class: "quiet", title: showRate(flakeRate) }, briefRate(flakeRate));

const row = (scenario: ScenarioHistory, runner: RunnerHistory | undefined, shown: ShownRecords): VNode => {
  const newest = runner?.latest[0];
  return h("tr", [
    h("td", { class: "whole" }, [badge(runner?.result ?? "never"), runner && flakiness(runner)]),
    h("td", { class: "name" }, [
      name(scenario, shown),
      runner && h("div", { class: "quiet" }, words(byWhom(runner), 60)),
    ]),
    h("td", { class: "whole" }, newest && tookTime(newest)),
    h(
      "td",
      { class: "whole" },
      newest && [
        moment(newest.started_at),
        h("div", { class: "quiet" }, [`${words(newest.manifest_version ?? "", 40)} `, ciLink(newest)]),
      ],
    ),
  ]);
};

export const showSummary = (shown: ShownRecords): unknown => {
  const { scenarios, counts } = shown.model;
  if (scenarios.length === 0) {
    return frame(h("p", "There are no records yet."), unreadableNote(shown.unreadable));
  }
  const rows = scenarios.flatMap((scenario) =>
    scenario.runners.length === 0
      ? [row(scenario, undefined, shown)]
      : scenario.runners.map((runner) => row(scenario, runner, shown)),
  );
  return frame(
    h("p", `${showCounts(counts)}.`),
    table(["Result", "Scenario", "Took", "When"], rows),
    unreadableNote(shown.unreadable),
  );
};

/** `<LatestRunsSummary />`: the newest results of all scenarios, in a fixed order. */
export const LatestRunsSummary: { setup(): () => unknown } = {
  setup: () => {
    const { summary } = useSiteComponents();
    return () => h(summary as never);
  },
};
