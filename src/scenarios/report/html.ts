import { createHash } from "node:crypto";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { anchorOf, badge, moment, sparkline } from "./htmlParts.ts";
import { detailedOf, scenarioSection } from "./htmlScenario.ts";
import { Markup, markup } from "./markup.ts";
import type { ReportModel, ScenarioHistory } from "./model.ts";
import { STYLE } from "./style.ts";
import { briefly, briefRate, byWhom, counted, RESULT_WORDS, tookTime } from "./words.ts";

/** Says that a file was made here, so that it may be made anew. */
export const HTML_MARK = '<meta name="generator" content="sanddune scenario report">';

/** What all steps of all shown executions have printed shares this much, so that the file stays one to send around. */
const OUTPUT_BUDGET = 4_000_000;
const LONGEST_TAIL = 8000;

/** Nothing is loaded and nothing is executed: what agents have printed stays text, even if we had made a mistake. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

const FILTERS = [
  "failing",
  "passing",
  "manual",
  "never",
] as const satisfies readonly ScenarioHistory["result"][];

const tailLengthFor = ({ scenarios }: ReportModel): number => {
  const steps = scenarios
    .flatMap(({ runners, earlier }) => [...runners, ...earlier].flatMap((runner) => [...detailedOf(runner)]))
    .reduce((sum, record) => sum + record.steps.length, 0);
  return Math.min(LONGEST_TAIL, Math.floor(OUTPUT_BUDGET / Math.max(1, 2 * steps)));
};

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

const gridRows = (scenario: ScenarioHistory): Markup => {
  const { runners, result } = scenario;
  if (runners.length === 0) {
    return markup`<tbody data-result="never"><tr>${scenarioCell(scenario, 1)}<td>${badge("never")}</td><td></td><td class="wide"></td><td class="wide"></td><td class="wide"></td></tr></tbody>`;
  }
  const rows = runners.map((runner, index) => {
    const [newest] = runner.latest;
    return markup`<tr>${index === 0 ? scenarioCell(scenario, runners.length) : undefined}<td>${badge(runner.result)}<br><span class="quiet by">${briefly(byWhom(runner), 40)}</span></td><td class="number">${newest && tookTime(newest)}</td><td class="wide">${sparkline(runner)}</td><td class="wide whole">${runner.flakeRate && briefRate(runner.flakeRate)}</td><td class="wide whole">${briefly(newest?.manifest_version ?? "", 40)}<br><span class="quiet">${newest && moment(newest.started_at)}</span></td></tr>`;
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

const body = (model: ReportModel): Markup => {
  if (model.scenarios.length === 0)
    return markup`<p>There are no scenarios yet. To begin one: <code>${sandduneCommand("scenario", "new")}</code></p>`;
  const tailLength = tailLengthFor(model);
  return markup`${summary(model)}${filter(model)}${grid(model.scenarios)}${model.scenarios.map((scenario) => scenarioSection(scenario, tailLength))}`;
};

/** The report as one HTML file that needs nothing else: no network, no script. */
export const htmlReport = (model: ReportModel): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
${new Markup(HTML_MARK)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${model.counts.failing > 0 ? `${model.counts.failing} failing: ` : ""}Scenario report</title>
<style>${new Markup(STYLE)}</style>
</head>
<body id="top">
<main>
<h1>Scenario report</h1>
${body(model)}
</main>
</body>
</html>
`.text;
