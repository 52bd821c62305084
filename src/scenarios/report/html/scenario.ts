import { type Markup, markup } from "../../../markup/markup.ts";
import { notShown, showMs } from "../../../markup/words.ts";
import { counted } from "../../../tools/counted.ts";
import { briefly, endOf } from "../../../tools/shorten.ts";
import type { ScenarioRecord } from "../../records/record.ts";
import type { RunnerHistory, ScenarioHistory } from "../model.ts";
import { byWhom, showRate } from "../words.ts";
import { execution, NOTES_LENGTH } from "./execution.ts";
import type { HtmlLimits } from "./limits.ts";
import { anchorOf, badge, sparkline } from "./parts.ts";

const fact = (name: string, value: Markup | string | undefined): Markup | undefined =>
  value === undefined ? undefined : markup`<div><dt>${name}</dt><dd>${value}</dd></div>`;

const facts = (runner: RunnerHistory): Markup => {
  const { flakeRate, failureRate, medianMs } = runner;
  return markup`<dl>${[
    fact("Flake rate, when last repeated", flakeRate && showRate(flakeRate)),
    fact("Failures, whole history", failureRate && showRate(failureRate)),
    fact("Median duration", medianMs === undefined ? undefined : showMs(medianMs)),
    fact("Trend", sparkline(runner)),
  ]}</dl>`;
};

const leftOut = ({ executions }: RunnerHistory, lines: readonly Line[]): Markup | undefined => {
  const hidden = executions.length - lines.length;
  const opening = lines.filter(({ opens }) => opens).length;
  if (hidden === 0 && opening === lines.length) return undefined;
  return markup`<p class="quiet">${opening < lines.length ? `${counted(opening, "execution")} of ${lines.length} can be opened. ` : ""}${hidden > 0 ? `${notShown(hidden, "older execution")} ` : ""}The records have everything.</p>`;
};

interface Line {
  readonly record: ScenarioRecord;
  readonly opens: boolean;
}

const history = (runner: RunnerHistory, limits: HtmlLimits, when = ""): Markup => {
  const lines = runner.executions
    .slice(0, limits.lines)
    .map((record) => ({ record, opens: limits.detailed.has(record) }));
  const shown = lines.map(({ record, opens }) => execution(record, opens ? limits.tailLength : undefined));
  return markup`<div class="runner"><h3>${badge(runner.result)} ${when}${briefly(byWhom(runner), 80)}</h3>${facts(runner)}<ol class="executions">${shown}</ol>${leftOut(runner, lines)}</div>`;
};

/** The section of a scenario with its whole history. */
export const scenarioSection = (
  { id, title, notes, result, runners, earlier }: ScenarioHistory,
  limits: HtmlLimits,
): Markup =>
  markup`<section id="${anchorOf(id)}" data-result="${result}"><header><h2>${briefly(title, 200)}</h2><p class="quiet"><code>${id}</code> · <a href="#top">to the top</a></p>${
    notes === undefined ? undefined : markup`<p class="notes">${endOf(notes, NOTES_LENGTH)}</p>`
  }</header>${
    runners.length === 0
      ? markup`<p class="quiet">It was never executed.</p>`
      : runners.map((runner) => history(runner, limits))
  }${earlier.map((runner) => history(runner, limits, "earlier, "))}</section>`;
