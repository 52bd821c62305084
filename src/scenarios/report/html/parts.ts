import { type Markup, markup } from "../../../markup/markup.ts";
import { harmless } from "../../../markup/words.ts";
import type { ScenarioResult } from "../../records/record.ts";
import type { RunnerHistory, ScenarioHistory } from "../model.ts";
import { RESULT_SIGNS, RESULT_WORDS } from "../words.ts";
import { durationBars } from "./bars.ts";

/** A result as a word and a sign, not only as a colour. */
export const badge = (result: ScenarioHistory["result"]): Markup =>
  markup`<span class="badge ${result}"><span aria-hidden="true">${RESULT_SIGNS[result]}</span> ${RESULT_WORDS[result]}</span>`;

export const verdict = (isOk: boolean): Markup => {
  const result: ScenarioResult = isOk ? "passing" : "failing";
  return markup`<span class="badge ${result}"><span aria-hidden="true">${RESULT_SIGNS[result]}</span> ${isOk ? "holds" : "fails"}</span>`;
};

export const sparkline = (runner: RunnerHistory): Markup | undefined => {
  const picture = durationBars(runner);
  if (picture === undefined) return undefined;
  const { bars, width, height, barWidth, label } = picture;
  // One element for each result, not for each bar: a page can have hundreds of these charts.
  const paths = [...new Set(bars.map(({ result }) => result))].map((result) => {
    const lines = bars.filter((bar) => bar.result === result);
    const path = lines.map(({ x, y }) => `M${x + barWidth / 2} ${height}V${y}`).join("");
    return markup`<path class="${result}" stroke-width="${barWidth}" d="${path}"/>`;
  });
  return markup`<svg class="bars" role="img" aria-label="${label}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><title>${label}</title>${paths}</svg>`;
};

/** The anchor of a scenario's section. */
export const anchorOf = (id: string): string => `scenario-${encodeURIComponent(harmless(id))}`;
