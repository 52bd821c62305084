import { createHash } from "node:crypto";
import { showDuration } from "../display/duration.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { moment } from "../scenarios/report/htmlParts.ts";
import { Markup, markup } from "../scenarios/report/markup.ts";
import { briefly, counted } from "../scenarios/report/words.ts";
import { chartOf } from "./chart.ts";
import { lastWords, stepSection } from "./htmlStep.ts";
import { patchOfStep, type Replay } from "./replay.ts";
import { resultsAfter, seriesOf } from "./series.ts";
import type { Step } from "./steps.ts";
import { TRAJECTORY_STYLE } from "./style.ts";
import { showChange, showTests, showTool, showTrouble } from "./words.ts";

/** Says that a file was made here, so that it may be made anew. */
export const TRAJECTORY_MARK = '<meta name="generator" content="sanddune replay">';

/** Nothing is loaded and nothing is executed: what an agent has printed stays text, even if we had made a mistake. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(TRAJECTORY_STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

/** What all steps say shares this much, so that the file stays one to send around. */
const BUDGET = 6_000_000;
const LONGEST = 4000;
const SHORTEST = 200;

/** In memory at a time; a picture of a change that large shows nobody anything. */
const MAX_PATCH = 200_000;

const facts = ({ run, steps }: Replay): Markup => {
  const took =
    run.endedAt === undefined
      ? undefined
      : showDuration(Math.max(0, Date.parse(run.endedAt) - Date.parse(run.begunAt)));
  const changed = steps.filter(({ change, number }) => change === "changed" && number > 0).length;
  const told: readonly (readonly [string, string | Markup | undefined])[] = [
    ["Agent", run.agent],
    ["Ended", run.state ?? "not known"],
    ["Began", moment(run.begunAt)],
    ["Took", took],
    ["Iterations", String(run.iterations)],
    ["Actions", `${run.actions.length}, ${changed} with a checkpoint`],
    ["Artifacts", run.artifacts.length === 0 ? undefined : String(run.artifacts.length)],
  ];
  return markup`<dl>${told.map(([name, value]) =>
    value === undefined ? undefined : markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
};

const tableRow = (step: Step): Markup => {
  const trouble = showTrouble(step);
  return markup`<tr class="${step.change}"><td class="number"><a href="#step-${step.number}">${step.number}</a></td><td>${briefly(showTool(step), 40)}</td><td class="what"><code>${briefly(step.what, 120)}</code>${
    trouble === "" ? undefined : markup` <span class="badge failing">${trouble}</span>`
  }</td><td class="whole wide">${showChange(step)}</td><td class="number">${showTests(resultsAfter(step))}</td></tr>`;
};

const table = (steps: readonly Step[]): Markup =>
  markup`<table class="steps"><caption class="hidden">Steps</caption><thead><tr><th scope="col" class="number">Step</th><th scope="col">Tool</th><th scope="col">What</th><th scope="col" class="wide">Files</th><th scope="col" class="number">Tests</th></tr></thead><tbody>${steps.map(tableRow)}</tbody></table>`;

const sections = async (replay: Replay): Promise<Markup[]> => {
  const { steps } = replay;
  const pieces = steps.reduce(
    (sum, { events, change }) => sum + events.length + (change === "changed" ? 4 : 0),
    1,
  );
  const length = Math.max(SHORTEST, Math.min(LONGEST, Math.floor(BUDGET / pieces)));
  const made: Markup[] = [];
  for (const step of steps) {
    const patch = (await patchOfStep(replay, step)).slice(0, MAX_PATCH);
    made.push(stepSection(step, patch, length));
  }
  const end = lastWords(replay.run.lastEvents, length);
  return end === undefined ? made : [...made, end];
};

/** The page of a recorded run: one HTML file that needs nothing else, no network and no script. */
export const trajectoryPage = async (replay: Replay): Promise<string> => {
  const { run, steps } = replay;
  const chart = chartOf(steps, seriesOf(steps));
  const title = `Run ${run.runId}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
${new Markup(TRAJECTORY_MARK)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(TRAJECTORY_STYLE)}</style>
</head>
<body id="top">
<main>
<h1>${title}</h1>
${facts(replay)}
${chart ?? markup`<p class="quiet">No tests were run on it. To run some: <code>${sandduneCommand("replay", run.runId, "--evaluate", "DIR")}</code></p>`}
<h2>${counted(run.actions.length, "action")}</h2>
${table(steps)}
${await sections(replay)}
</main>
</body>
</html>
`.text;
};
