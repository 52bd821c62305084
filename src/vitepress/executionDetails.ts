import { h, type VNode } from "vue";
import { harmless, printed, showMs } from "../markup/words.ts";
import type { AssertionRecord, ScenarioRecord, StepRecord } from "../scenarios/records/record.ts";
import { briefUsage } from "../scenarios/report/usage.ts";
import { isFine, runnerDetails, showEnd } from "../scenarios/report/words.ts";
import { counted } from "../tools/counted.ts";
import { endOf } from "../tools/shorten.ts";
import { badge, words } from "./parts.ts";
import { SHOWN_CHARACTERS } from "./siteRecords.ts";

const MOST = 100;

const output = (name: string, text: string | undefined): VNode[] =>
  text === undefined ? [] : [h("div", { class: "quiet" }, name), h("pre", { tabindex: 0 }, text)];

const step = (taken: StepRecord): VNode[] => [
  h("div", [
    badge(isFine(taken) ? "passing" : taken.manual ? "manual" : "failing", showEnd(taken)),
    ` ${words(taken.name)} `,
    h("span", { class: "quiet" }, showMs(taken.duration_ms)),
  ]),
  h("div", { class: "outputs" }, [
    ...output("stdout", printed(taken.stdout_tail, SHOWN_CHARACTERS)),
    ...output("stderr", printed(taken.stderr_tail, SHOWN_CHARACTERS)),
  ]),
];

const assertion = ({ name, ok, detail }: AssertionRecord): VNode =>
  h("div", [
    badge(ok ? "passing" : "failing", ok ? "holds" : "fails"),
    ` ${words(name)} `,
    h("span", { class: "quiet" }, words(detail, 1000)),
  ]);

const summaryOf = (record: ScenarioRecord): string => {
  const { manifest_version, steps, assertions } = record;
  const failed = assertions.filter(({ ok }) => !ok).length;
  const tokens = briefUsage(record);
  const parts = [
    manifest_version,
    runnerDetails(record),
    tokens !== "" && `${tokens} tokens`,
    steps.length > 0 && counted(steps.length, "step"),
    assertions.length > 0 &&
      counted(assertions.length, "assertion") + (failed > 0 ? `, ${failed} failed` : ""),
  ];
  return words(parts.filter((part) => typeof part === "string").join(" · "));
};

/** An execution with its steps and assertions, which open without a script. */
export const executionDetails = (record: ScenarioRecord): VNode => {
  const { steps, assertions, notes } = record;
  const isAll = steps.length + assertions.length === 0 && notes === null;
  if (isAll) return h("div", { class: "quiet" }, summaryOf(record));
  return h("details", [
    h("summary", summaryOf(record)),
    notes === null ? undefined : h("p", { class: "notes" }, harmless(endOf(notes, SHOWN_CHARACTERS))),
    ...assertions.slice(0, MOST).map(assertion),
    ...steps.slice(0, MOST).flatMap(step),
  ]);
};
