import { showDuration } from "../../display/duration.ts";
import { type Markup, markup } from "../../markup/markup.ts";
import { briefly } from "../../tools/shorten.ts";
import { byIteration } from "../read/byIteration.ts";
import { expenseOfIteration, expenseOfStep, showExpense, tokensOf } from "../read/expense.ts";
import type { RecordedRun } from "../read/readTrajectory.ts";
import type { Replay } from "../read/replay.ts";
import { type TestColumn, testColumns } from "../read/series.ts";
import type { RecordedStep } from "../read/steps.ts";
import { showChange, showTests, showTool, showTrouble } from "./words.ts";

interface Shown {
  readonly run: RecordedRun;
  readonly tests: readonly TestColumn[];
  readonly hasTokens: boolean;
}

const row = (step: RecordedStep, { run, tests, hasTokens }: Shown): Markup => {
  const trouble = showTrouble(step);
  return markup`<tr class="${step.change}"><td class="number"><a href="#step-${step.number}">${step.number}</a></td><td>${briefly(showTool(step), 40)}</td><td class="what"><code>${briefly(step.what, 120)}</code>${
    trouble === "" ? undefined : markup` <span class="badge failing">${trouble}</span>`
  }</td><td class="whole wide">${showChange(step)}</td><td class="number whole wide">${step.number === 0 ? "" : showDuration(step.durationMs)}</td>${
    hasTokens ? markup`<td class="number wide">${tokensOf(expenseOfStep(run, step))}</td>` : undefined
  }${tests.map(({ resultsOf }) => markup`<td class="number">${showTests(resultsOf(step))}</td>`)}</tr>`;
};

/** All steps, with a heading for each iteration if there are several. */
export const stepTable = ({ run, steps }: Replay): Markup => {
  const hasTokens = steps.some(({ usage }) => usage !== undefined);
  const shown: Shown = { run, tests: testColumns(steps), hasTokens };
  const groups = byIteration(run, steps).map(({ iteration, steps: group }) => {
    const heading =
      iteration === undefined || run.iterations.length < 2
        ? undefined
        : markup`<tr><th colspan="20" scope="rowgroup"><a href="#iteration-${iteration.number}">Iteration ${iteration.number}</a> <span class="quiet">${showExpense(expenseOfIteration(run, iteration))}</span></th></tr>`;
    return markup`<tbody>${heading}${group.map((step) => row(step, shown))}</tbody>`;
  });
  return markup`<table class="steps"><caption class="hidden">Steps</caption><thead><tr><th scope="col" class="number">Step</th><th scope="col">Tool</th><th scope="col">What</th><th scope="col" class="wide">Files</th><th scope="col" class="number wide">Time</th>${
    hasTokens ? markup`<th scope="col" class="number wide">Tokens</th>` : undefined
  }${shown.tests.map(({ heading }) => markup`<th scope="col" class="number">${heading === "TESTS" ? "Tests" : briefly(heading, 30)}</th>`)}</tr></thead>${groups}</table>`;
};
