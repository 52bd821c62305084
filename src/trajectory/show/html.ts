import { showDuration } from "../../display/duration.ts";
import { showCost, showTokens } from "../../display/tokens.ts";
import { type Markup, markup } from "../../markup/markup.ts";
import { moment } from "../../markup/moment.ts";
import { htmlPage } from "../../markup/page.ts";
import { totalTokens } from "../../options/usage.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { counted } from "../../tools/counted.ts";

import { byIteration } from "../read/byIteration.ts";
import { expenseOfRun, expenseOfStep } from "../read/expense.ts";
import { patchOfStep, type Replay } from "../read/replay.ts";
import { seriesOf } from "../read/series.ts";
import { chartOf } from "./chart.ts";
import { iterationHeading, lastWords, stepSection } from "./htmlStep.ts";
import { stepTable } from "./htmlTable.ts";
import { TRAJECTORY_STYLE } from "./style.ts";

/** Marks a file as a page of sanddune, which may be replaced. */
export const TRAJECTORY_MARK = '<meta name="generator" content="sanddune replay">';

/** The steps share this many characters, so that the file stays small enough to send. */
const BUDGET = 6_000_000;
const LONGEST = 4000;
const SHORTEST = 200;

/** How much of patches is in memory at a time. Larger patches are not useful on a page. */
const MAX_PATCH = 200_000;

const facts = ({ run, steps }: Replay): Markup => {
  const { usage, costUsd, durationMs } = expenseOfRun(run);
  const changed = steps.filter(({ change, number }) => change === "changed" && number > 0).length;
  const told: readonly (readonly [string, string | Markup | undefined])[] = [
    ["Agent", run.agent],
    ["Model", run.model],
    ["Version", run.agentVersion],
    ["Ended", run.state ?? "not known"],
    ["Began", moment(run.begunAt)],
    ["Took", run.endedAt === undefined ? undefined : showDuration(durationMs)],
    ["Tokens", usage && showTokens(totalTokens(usage))],
    ["Cost", costUsd === undefined ? undefined : showCost(costUsd)],
    ["Iterations", String(run.iterations.length)],
    ["Actions", `${run.actions.length}, ${changed} with a checkpoint`],
    ["Artifacts", run.artifacts.length === 0 ? undefined : String(run.artifacts.length)],
  ];
  return markup`<dl>${told.map(([name, value]) =>
    value === undefined ? undefined : markup`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
};

const sections = async (replay: Replay): Promise<Markup[]> => {
  const { run, steps } = replay;
  const pieces = [
    ...steps,
    ...run.iterations.map(({ lastEvents }) => ({ events: lastEvents, change: "" })),
  ].reduce(
    (sum, { events, change }) => sum + events.length + (change === "changed" ? 4 : 0),
    1 + run.iterations.length,
  );
  const length = Math.max(SHORTEST, Math.min(LONGEST, Math.floor(BUDGET / pieces)));
  const made: Markup[] = [];
  for (const { iteration, steps: group } of byIteration(run, steps)) {
    if (iteration !== undefined) made.push(iterationHeading(run, iteration, length));
    for (const step of group) {
      const patch = (await patchOfStep(replay, step)).slice(0, MAX_PATCH);
      made.push(stepSection(step, patch, length, expenseOfStep(run, step)));
    }
    const end = iteration && lastWords(iteration.lastEvents, length);
    if (end !== undefined) made.push(end);
  }
  return made;
};

/** The page of a recorded run: one HTML file without scripts and external resources. */
export const trajectoryPage = async (replay: Replay): Promise<string> => {
  const { run, steps } = replay;
  const chart = chartOf(steps, seriesOf(steps));
  const title = `Run ${run.runId}`;
  const body = markup`<h1>${title}</h1>
${facts(replay)}
${chart ?? markup`<p class="quiet">No tests were run on it. To run some: <code>${sandduneCommand("replay", run.runId, "--evaluate", "DIR")}</code></p>`}
<h2>${counted(run.actions.length, "action")}</h2>
${stepTable(replay)}
${await sections(replay)}`;
  return htmlPage({ title, mark: TRAJECTORY_MARK, style: TRAJECTORY_STYLE, body });
};
