import { describeToolInput, showToolInput } from "../../display/toolInput.ts";
import type { TestResults } from "../../environment/contract.ts";
import { type Markup, markup } from "../../markup/markup.ts";
import { harmless, notShown } from "../../markup/words.ts";
import { counted } from "../../tools/counted.ts";
import { briefly, endOf } from "../../tools/shorten.ts";
import { type Expense, expenseOfIteration, showExpense } from "../read/expense.ts";
import type { RecordedIteration, RecordedRun } from "../read/readTrajectory.ts";
import type { RecordedStep } from "../read/steps.ts";
import type { RecordedEvent } from "../record/file.ts";
import { showTrouble } from "./words.ts";

const MAX_FAILURES = 20;
const MAX_MESSAGE = 1000;
const MAX_FILES = 50;
/** The limit for one step. */
const MAX_EVENTS = 200;

const printed = (name: string, text: string, length: number): Markup | undefined =>
  text.trim() === ""
    ? undefined
    : markup`<figure><figcaption>${name}</figcaption><pre tabindex="0">${endOf(harmless(text), length)}</pre></figure>`;

/** A single input needs no name: most often it is a command with several lines. */
const readableInput = (input: unknown): string =>
  typeof input === "object" && input !== null && Object.keys(input).length > 1
    ? showToolInput(input)
    : describeToolInput(input);

/** The agent's events. Those that only programs need are left out. */
const eventPart = (event: RecordedEvent, length: number): Markup | undefined => {
  switch (event.type) {
    case "text":
      return event.text.trim() === ""
        ? undefined
        : markup`<p class="said">${endOf(event.text.trim(), length)}</p>`;
    case "toolCall":
      return printed(event.name, readableInput(event.input), length);
    case "toolResult":
      return printed(event.isError ? "failed" : "result", event.output, length);
    case "error":
      return markup`<p class="said quiet">${endOf(event.message, length)}</p>`;
    default:
      return undefined;
  }
};

/** The events of an action; if there are very many, the last ones. */
const eventParts = (events: readonly RecordedEvent[], length: number): Markup[] => {
  const hidden = events.length - MAX_EVENTS;
  const parts = events
    .slice(-MAX_EVENTS)
    .map((event) => eventPart(event, length))
    .filter((part) => part !== undefined);
  return hidden > 0 ? [markup`<p class="quiet">${notShown(hidden, "earlier event")}</p>`, ...parts] : parts;
};

const patchLine = (line: string): Markup => {
  if (/^(?:\+\+\+|---|diff |index |@@)/.test(line)) return markup`<span class="place">${line}\n</span>`;
  if (line.startsWith("+")) return markup`<span class="added">${line}\n</span>`;
  return line.startsWith("-") ? markup`<span class="removed">${line}\n</span>` : markup`${line}\n`;
};

const fileList = ({ files }: RecordedStep): Markup => {
  const rows = files
    .slice(0, MAX_FILES)
    .map(
      ({ path, added, removed }) =>
        markup`<li><code>${briefly(path, 300)}</code> <span class="quiet">${added === undefined ? "binary" : `+${added} -${removed}`}</span></li>`,
    );
  const hidden = files.length - MAX_FILES;
  return markup`<ul>${rows}</ul>${hidden > 0 ? markup`<p class="quiet">${notShown(hidden, "file")}</p>` : undefined}`;
};

const changePart = (step: RecordedStep, patch: string, length: number): Markup | undefined => {
  if (step.change !== "changed" || !step.isHere) return undefined;
  const shown = patch.length > length ? `${patch.slice(0, length)}\n… more is not shown` : patch;
  return markup`<details><summary>${counted(step.files.length, "changed file")}, <code>${step.commit.slice(0, 12)}</code></summary>${fileList(step)}${
    shown === ""
      ? undefined
      : markup`<pre class="patch" tabindex="0">${shown.split("\n").map(patchLine)}</pre>`
  }</details>`;
};

const testsPart = (name: string, { passed, total, tests, error }: TestResults): Markup => {
  const failures = tests.filter((test) => !test.passed);
  const list = failures
    .slice(0, MAX_FAILURES)
    .map(
      ({ path, message = "" }) =>
        printed(briefly(path), message, MAX_MESSAGE) ?? markup`<p>${briefly(path)}</p>`,
    );
  const hidden = failures.length - MAX_FAILURES;
  return markup`<p>Tests ${name}: ${passed} of ${total} pass.${error === null ? undefined : markup` ${briefly(error, MAX_MESSAGE)}`}</p>${
    list.length === 0
      ? undefined
      : markup`<details><summary>${failures.length} failing</summary>${list}${hidden > 0 ? markup`<p class="quiet">${notShown(hidden, "failing test")}</p>` : undefined}</details>`
  }`;
};

/** The prompt at the beginning of an iteration. */
export const iterationHeading = (run: RecordedRun, iteration: RecordedIteration, length: number): Markup =>
  markup`<h2 id="iteration-${iteration.number}">Iteration ${iteration.number}</h2><p class="quiet">${showExpense(expenseOfIteration(run, iteration))}</p>${
    iteration.prompt === undefined
      ? undefined
      : markup`<details><summary>Prompt</summary><pre tabindex="0">${endOf(harmless(iteration.prompt), length)}</pre></details>`
  }`;

/** The events after the last action. */
export const lastWords = (events: readonly RecordedEvent[], length: number): Markup | undefined => {
  const parts = eventParts(events, length);
  return parts.length === 0
    ? undefined
    : markup`<section class="step"><h2>After the last action</h2>${parts}</section>`;
};

/** The section of a step, with long texts cut. */
export const stepSection = (step: RecordedStep, patch: string, length: number, expense: Expense): Markup => {
  const trouble = showTrouble(step);
  const took = step.number === 0 ? undefined : markup`<p class="quiet">${showExpense(expense)}</p>`;
  return markup`<section class="step" id="step-${step.number}"><h2>${step.number} ${step.tool ?? ""} <code>${briefly(step.what, 200)}</code>${
    trouble === "" ? undefined : markup` <span class="badge failing">${trouble}</span>`
  }</h2>${took}${eventParts(step.events, length)}${changePart(step, patch, length * 4)}${
    step.tests && testsPart("of the run", step.tests)
  }${[...step.evaluations].map(([environment, results]) => testsPart(`of ${environment}`, results))}</section>`;
};
