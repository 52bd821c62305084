import { type Markup, markup } from "../../../markup/markup.ts";
import { moment } from "../../../markup/moment.ts";
import { notShown, printed, showMs, webAddress } from "../../../markup/words.ts";
import { counted } from "../../../tools/counted.ts";
import { briefly, endOf } from "../../../tools/shorten.ts";
import type { AssertionRecord, ScenarioRecord, StepRecord } from "../../records/record.ts";
import { briefUsage, showUsage } from "../usage.ts";
import { isFine, runnerDetails, showEnd, tookTime } from "../words.ts";
import { badge, verdict } from "./parts.ts";

/** More rows are a mistake, or an attack on the reader. */
const MOST_ROWS = 100;
export const NOTES_LENGTH = 4000;

const more = (count: number, noun: string): Markup | undefined =>
  count > MOST_ROWS ? markup`<p class="quiet">${notShown(count - MOST_ROWS, `more ${noun}`)}</p>` : undefined;

const output = (name: string, text: string | undefined): Markup | undefined =>
  text === undefined
    ? undefined
    : markup`<figure><figcaption>${name}</figcaption><pre tabindex="0">${text}</pre></figure>`;

const toolEdits = ({ tool_edits = [] }: StepRecord): Markup | undefined => {
  if (tool_edits.length === 0) return undefined;
  const failed = tool_edits.filter(({ status }) => status === "error").length;
  const names = [...new Set(tool_edits.map(({ name }) => name))];
  return markup`<p class="quiet">${counted(tool_edits.length, "tool call")}${failed > 0 ? `, ${failed} of them failed` : ""}: ${briefly(names.join(", "))}</p>`;
};

const usage = ({ usage: used }: StepRecord): Markup | undefined =>
  used && markup`<p class="quiet">${showUsage(used)}</p>`;

const stepRow = (step: StepRecord, tailLength: number): Markup => {
  const outputs = [
    toolEdits(step),
    usage(step),
    output("stdout", printed(step.stdout_tail, tailLength)),
    output("stderr", printed(step.stderr_tail, tailLength)),
  ].filter((part) => part !== undefined);
  return markup`<tr><td class="break">${briefly(step.name)}</td><td class="number${isFine(step) ? "" : " failing"}">${showEnd(step)}</td><td class="number">${showMs(step.duration_ms)}</td></tr>${
    outputs.length === 0 ? undefined : markup`<tr class="outputs"><td colspan="3">${outputs}</td></tr>`
  }`;
};

const stepTable = (steps: readonly StepRecord[], tailLength: number): Markup | undefined =>
  steps.length === 0
    ? undefined
    : markup`<table class="steps"><caption>Steps</caption><thead><tr><th scope="col">Step</th><th scope="col" class="number">Ended</th><th scope="col" class="number">Took</th></tr></thead><tbody>${steps.slice(0, MOST_ROWS).map((step) => stepRow(step, tailLength))}</tbody></table>${more(steps.length, "step")}`;

const assertionRow = ({ name, ok, detail }: AssertionRecord): Markup =>
  markup`<tr><td>${verdict(ok)}</td><td class="break">${briefly(name)}</td><td class="break quiet">${briefly(detail, 1000)}</td></tr>`;

const assertionTable = (assertions: readonly AssertionRecord[]): Markup | undefined =>
  assertions.length === 0
    ? undefined
    : markup`<table><caption>Assertions</caption><thead><tr><th scope="col">Verdict</th><th scope="col">Assertion</th><th scope="col">What was found</th></tr></thead><tbody>${assertions.slice(0, MOST_ROWS).map(assertionRow)}</tbody></table>${more(assertions.length, "assertion")}`;

const ciLink = ({ ci_run }: ScenarioRecord): Markup | undefined => {
  const address = webAddress(ci_run?.url);
  if (ci_run === null || address === undefined) return undefined;
  return markup`<a class="ci" href="${address}" rel="noopener noreferrer">CI run<span class="hidden"> on ${briefly(ci_run.platform, 40)}</span></a>`;
};

const line = (record: ScenarioRecord): Markup => {
  const tokens = briefUsage(record);
  return markup`${badge(record.result)}<span>${moment(record.started_at)}</span><span class="number">${tookTime(record)}</span><span>${briefly(record.manifest_version ?? "", 40)}</span><span class="quiet">${briefly(runnerDetails(record), 80)}${record.repeat && ` · ${record.repeat.number} of ${record.repeat.of}`}${tokens && ` · ${tokens} tokens`}</span>`;
};

/** An execution as one line; with `tailLength`, it can be opened, and shows that much of each step's output. */
export const execution = (record: ScenarioRecord, tailLength: number | undefined): Markup => {
  if (tailLength === undefined)
    return markup`<li><div class="line">${line(record)}</div>${ciLink(record)}</li>`;
  const { notes, runner, fixture, steps, assertions } = record;
  const place = [runner.version, runner.host, ...(fixture === null ? [] : [`fixture ${fixture}`])];
  return markup`<li><details><summary class="line">${line(record)}</summary><div class="inside">${
    notes === null ? undefined : markup`<p class="notes">${endOf(notes, NOTES_LENGTH)}</p>`
  }${assertionTable(assertions)}${stepTable(steps, tailLength)}<p class="quiet">${briefly(place.join(" · "))}</p></div></details>${ciLink(record)}</li>`;
};
