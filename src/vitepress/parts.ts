import { h, type VNode } from "vue";
import { harmless, showTime, webAddress } from "../markup/words.ts";
import type { ScenarioRecord } from "../scenarios/records/record.ts";
import type { ScenarioHistory } from "../scenarios/report/model.ts";
import { RESULT_SIGNS, RESULT_WORDS } from "../scenarios/report/words.ts";
import { briefly } from "../tools/shorten.ts";
import { STYLE } from "./style.ts";

/** The content of a component with its style. */
export const frame = (...children: readonly (VNode | undefined)[]): VNode =>
  h("div", { class: "sanddune-records" }, [h("style", { innerHTML: STYLE }), ...children]);

export const badge = (result: ScenarioHistory["result"], word = RESULT_WORDS[result]): VNode =>
  h("span", { class: `badge ${result}` }, `${RESULT_SIGNS[result]} ${word}`);

export const words = (text: string, maxLength?: number): string => harmless(briefly(text, maxLength));

export const moment = (time: string): VNode =>
  h("time", { datetime: new Date(time).toISOString() }, showTime(time));

/** A table that scrolls horizontally on narrow screens. */
export const table = (titles: readonly string[], rows: readonly VNode[]): VNode =>
  h("div", { class: "scroll" }, [
    h("table", [
      h("thead", [
        h(
          "tr",
          titles.map((title) => h("th", { scope: "col" }, title)),
        ),
      ]),
      h("tbody", [...rows]),
    ]),
  ]);

export const ciLink = ({ ci_run }: ScenarioRecord): VNode | undefined => {
  const href = webAddress(ci_run?.url);
  return href === undefined ? undefined : h("a", { href, rel: "noopener noreferrer" }, "CI run");
};

/** Names the files that should be records and are not. */
export const unreadableNote = (paths: readonly string[]): VNode | undefined =>
  paths.length === 0
    ? undefined
    : h("p", { class: "quiet" }, words(`Left out, because they are no records: ${paths.join("; ")}`, 1000));
