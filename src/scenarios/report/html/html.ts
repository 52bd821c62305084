import { type Markup, markup } from "../../../markup/markup.ts";
import { moment } from "../../../markup/moment.ts";
import { htmlPage } from "../../../markup/page.ts";
import { STYLE } from "../../../markup/style.ts";
import { notShown } from "../../../markup/words.ts";
import { sandduneCommand } from "../../../process/ownCommand/sandduneCommand.ts";
import { counted } from "../../../tools/counted.ts";
import { briefly, endOf } from "../../../tools/shorten.ts";
import type { ScenarioRecord } from "../../records/record.ts";
import type { ReportModel, ScenarioHistory } from "../model.ts";
import { briefUsage } from "../usage.ts";
import { briefRate, byWhom, RESULT_WORDS, tookTime } from "../words.ts";
import { NOTES_LENGTH } from "./execution.ts";
import { limitsFor } from "./limits.ts";
import { anchorOf, badge, sparkline } from "./parts.ts";
import { scenarioSection } from "./scenario.ts";

/** Marks a file as a report of sanddune, which may be replaced. */
export const HTML_MARK = '<meta name="generator" content="sanddune scenario report">';

const MOST_PROBLEMS = 100;

const FILTERS = [
  "failing",
  "passing",
  "manual",
  "never",
] as const satisfies readonly ScenarioHistory["result"][];

const summary = ({ counts, scenarios, executions, newest }: ReportModel): Markup => {
  const numbers = FILTERS.filter((result) => result !== "never" || counts.never > 0).map(
    (result) => markup`<li class="${result}"><strong>${counts[result]}</strong> ${RESULT_WORDS[result]}</li>`,
  );
  const shares = FILTERS.filter((result) => counts[result] > 0);
  let x = 0;
  const bar = shares.map((result) => {
    const width = (counts[result] / scenarios.length) * 100;
    x += width;
    return markup`<rect class="${result}" x="${x - width}" width="${width}" height="6"/>`;
  });
  return markup`<ul class="counts">${numbers}</ul><svg class="shares" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${bar}</svg><p class="quiet">${counted(scenarios.length, "scenario")}, ${counted(executions, "execution")}${
    newest &&
    markup`. Newest: ${moment(newest.started_at)}${newest.manifest_version === null ? undefined : `, ${briefly(newest.manifest_version, 40)}`}`
  }.</p>`;
};

const scenarioCell = ({ id, title }: ScenarioHistory, rows: number): Markup =>
  markup`<th scope="row" rowspan="${rows}"><a href="#${anchorOf(id)}">${briefly(title, 200)}</a><code>${id}</code></th>`;

const tokens = (record: ScenarioRecord): Markup | undefined => {
  const used = briefUsage(record);
  return used === "" ? undefined : markup`<br><span class="quiet">${used} tokens</span>`;
};

const gridRows = (scenario: ScenarioHistory): Markup => {
  const { runners, result } = scenario;
  if (runners.length === 0) {
    return markup`<tbody data-result="never"><tr>${scenarioCell(scenario, 1)}<td>${badge("never")}</td><td></td><td class="wide"></td><td class="wide"></td><td class="wide"></td></tr></tbody>`;
  }
  const rows = runners.map((runner, index) => {
    const [newest] = runner.latest;
    return markup`<tr>${index === 0 ? scenarioCell(scenario, runners.length) : undefined}<td>${badge(runner.result)}<br><span class="quiet by">${briefly(byWhom(runner), 40)}</span></td><td class="number">${newest && tookTime(newest)}${newest && tokens(newest)}</td><td class="wide">${sparkline(runner)}</td><td class="wide whole">${runner.flakeRate && briefRate(runner.flakeRate)}</td><td class="wide whole">${briefly(newest?.manifest_version ?? "", 40)}<br><span class="quiet">${newest && moment(newest.started_at)}</span></td></tr>`;
  });
  return markup`<tbody data-result="${result}">${rows}</tbody>`;
};

const grid = (scenarios: readonly ScenarioHistory[]): Markup =>
  markup`<table class="grid"><caption class="hidden">Latest results</caption><thead><tr><th scope="col">Scenario</th><th scope="col">Result</th><th scope="col" class="number">Took</th><th scope="col" class="wide">Trend</th><th scope="col" class="wide">Repeated</th><th scope="col" class="wide">Version, when</th></tr></thead>${scenarios.map(gridRows)}</table>`;

const filter = ({ counts }: ReportModel): Markup => {
  const choices = FILTERS.filter((result) => counts[result] > 0).map(
    (result) =>
      markup`<label><input type="radio" name="show" id="show-${result}"> ${RESULT_WORDS[result]}</label>`,
  );
  return markup`<fieldset class="filter"><legend class="hidden">Scenarios to show</legend><label><input type="radio" name="show" id="show-all" checked> all</label>${choices}</fieldset>`;
};

/** Shown first: because of these errors, results may be missing or outdated. */
const errors = ({ problems }: ReportModel): Markup | undefined => {
  if (problems.length === 0) return undefined;
  const items = problems
    .slice(0, MOST_PROBLEMS)
    .map(
      ({ subject, message }) =>
        markup`<li><strong>${briefly(subject)}</strong><pre tabindex="0">${endOf(message, NOTES_LENGTH)}</pre></li>`,
    );
  const hidden = problems.length - MOST_PROBLEMS;
  return markup`<div class="errors"><h2>${counted(problems.length, "error")} of the runner</h2><ul>${items}</ul>${hidden > 0 ? notShown(hidden, "more error") : undefined}</div>`;
};

const body = (model: ReportModel): Markup => {
  if (model.scenarios.length === 0 && model.problems.length === 0)
    return markup`<p>There are no scenarios yet. To begin one: <code>${sandduneCommand("scenario", "new")}</code></p>`;
  if (model.scenarios.length === 0) return markup`${errors(model)}<p>No scenario was executed.</p>`;
  const limits = limitsFor(model);
  return markup`${errors(model)}${summary(model)}${filter(model)}${grid(model.scenarios)}${model.scenarios.map((scenario) => scenarioSection(scenario, limits))}`;
};

const titleOf = ({ problems, counts }: ReportModel): string => {
  const bad = [
    ...(problems.length > 0 ? [counted(problems.length, "error")] : []),
    ...(counts.failing > 0 ? [`${counts.failing} failing`] : []),
  ];
  return bad.length > 0 ? `${bad.join(", ")}: Scenario report` : "Scenario report";
};

/** The report as one HTML file without scripts and external resources. */
export const htmlReport = (model: ReportModel): string =>
  htmlPage({
    title: titleOf(model),
    mark: HTML_MARK,
    style: STYLE,
    body: markup`<h1>Scenario report</h1>
${body(model)}`,
  });
