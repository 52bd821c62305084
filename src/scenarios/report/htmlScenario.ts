import type { RunRecord } from "../record.ts";
import { execution } from "./htmlExecution.ts";
import { anchorOf, badge, sparkline } from "./htmlParts.ts";
import { type Markup, markup } from "./markup.ts";
import type { RunnerHistory, ScenarioHistory } from "./model.ts";
import { briefly, byWhom, notShown, showMs, showRate } from "./words.ts";

/** How many executions of a runner are shown. */
const SHOWN = 50;
/** How many of these with all that is known of them: the newest, and those that failed last. */
const DETAILED = 5;
const DETAILED_FAILURES = 3;

/** The executions that open on the page. */
export const detailedOf = ({ executions }: RunnerHistory): ReadonlySet<RunRecord> => {
  const shown = executions.slice(0, SHOWN);
  const failures = shown.filter(({ result }) => result === "failing");
  return new Set([...shown.slice(0, DETAILED), ...failures.slice(0, DETAILED_FAILURES)]);
};

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

const limits = ({ executions }: RunnerHistory): Markup | undefined => {
  if (executions.length <= DETAILED) return undefined;
  const hidden = executions.length - SHOWN;
  return markup`<p class="quiet">The newest ${DETAILED} open, and the ${DETAILED_FAILURES} that failed last.${hidden > 0 ? ` ${notShown(hidden, "older execution")}` : ""} The records have everything.</p>`;
};

const history = (runner: RunnerHistory, tailLength: number, when = ""): Markup => {
  const detailed = detailedOf(runner);
  const lines = runner.executions
    .slice(0, SHOWN)
    .map((record) => execution(record, detailed.has(record) ? tailLength : undefined));
  return markup`<div class="runner"><h3>${badge(runner.result)} ${when}${briefly(byWhom(runner), 80)}</h3>${facts(runner)}<ol class="executions">${lines}</ol>${limits(runner)}</div>`;
};

/** All that is known of a scenario. */
export const scenarioSection = (
  { id, title, result, runners, earlier }: ScenarioHistory,
  tailLength: number,
): Markup =>
  markup`<section id="${anchorOf(id)}" data-result="${result}"><header><h2>${briefly(title, 200)}</h2><p class="quiet"><code>${id}</code> · <a href="#top">to the top</a></p></header>${
    runners.length === 0
      ? markup`<p class="quiet">It was never executed.</p>`
      : runners.map((runner) => history(runner, tailLength))
  }${earlier.map((runner) => history(runner, tailLength, "earlier, "))}</section>`;
