import { type Markup, markup } from "../../markup/markup.ts";
import type { Point, Series } from "../read/series.ts";
import type { RecordedStep } from "../read/steps.ts";

const WIDTH = 960;
const HEIGHT = 300;
const LEFT = 44;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 52;
/** More marks would overlap. */
const MAX_DOTS = 200;
const MAX_TICKS = 10;
/** As many as there are colours. */
const MAX_SERIES = 4;

const round = (value: number): number => Math.round(value * 10) / 10;

/** A round distance between ticks, with a limited number of ticks. */
const tickDistance = (most: number): number => {
  const least = most / MAX_TICKS;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((distance) => distance >= least) ?? 10 * power;
};

const ticks = (most: number): number[] => {
  const distance = tickDistance(most);
  return Array.from({ length: Math.floor(most / distance) + 1 }, (_, index) => index * distance);
};

interface Scale {
  readonly x: (number: number) => number;
  readonly y: (tests: number) => number;
}

/** A step line: the number of passed tests stays until files change again. */
const lineOf = ({ points }: Series, { x, y }: Scale, last: number): string => {
  const [first, ...others] = points;
  if (first === undefined) return "";
  const steps = others.map(({ number, passed }) => `H${x(number)}V${y(passed)}`);
  return `M${x(first.number)} ${y(first.passed)}${steps.join("")}H${x(last)}`;
};

const dot = ({ number, passed, total }: Point, { x, y }: Scale): Markup =>
  markup`<a href="#step-${number}"><circle cx="${x(number)}" cy="${y(passed)}" r="4"><title>After step ${number}: ${passed} of ${total} tests pass</title></circle></a>`;

const drawn = (series: Series, index: number, scale: Scale, last: number): Markup =>
  markup`<g class="series-${index + 1}"><path d="${lineOf(series, scale, last)}"/>${
    series.points.length > MAX_DOTS ? undefined : series.points.map((point) => dot(point, scale))
  }</g>`;

const legend = (series: readonly Series[]): Markup =>
  markup`<ul class="legend">${series.map(
    ({ name, points }, index) =>
      markup`<li class="series-${index + 1}"><svg width="22" height="10" aria-hidden="true"><path d="M0 5H22"/></svg> ${name}: ${points.at(-1)?.passed ?? 0} of ${points.at(-1)?.total ?? 0} at the end</li>`,
  )}</ul>`;

/** Marks below the axis where files changed. */
const changeMarks = (steps: readonly RecordedStep[], { x, y }: Scale): Markup[] =>
  steps
    .filter(({ change, number }) => change === "changed" && number > 0)
    .map(
      ({ number }) =>
        markup`<rect class="change" x="${round(x(number) - 1)}" y="${y(0) + 5}" width="2" height="7"/>`,
    );

/** A chart of the passed tests over the actions; `undefined` if there were no tests. */
export const chartOf = (steps: readonly RecordedStep[], all: readonly Series[]): Markup | undefined => {
  const series = all.slice(0, MAX_SERIES);
  const points = series.flatMap((each) => each.points);
  if (points.length === 0) return undefined;
  const last = Math.max(1, steps.length - 1);
  const most = points.reduce((highest, { total }) => Math.max(highest, total), 1);
  const scale: Scale = {
    x: (number) => round(LEFT + (number / last) * (WIDTH - LEFT - RIGHT)),
    y: (tests) => round(HEIGHT - BOTTOM - (tests / most) * (HEIGHT - TOP - BOTTOM)),
  };
  const { x, y } = scale;
  const rows = ticks(most).map(
    (tests) =>
      markup`<path class="rule" d="M${LEFT} ${y(tests)}H${WIDTH - RIGHT}"/><text class="end" x="${LEFT - 8}" y="${y(tests) + 4}">${tests}</text>`,
  );
  const columns = ticks(last).map(
    (number) => markup`<text class="middle" x="${x(number)}" y="${HEIGHT - BOTTOM + 28}">${number}</text>`,
  );
  const label = `Passed tests over ${last} actions`;
  return markup`<figure class="chart"><svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${rows}${columns}<text class="middle" x="${(WIDTH + LEFT - RIGHT) / 2}" y="${HEIGHT - 6}">action (marks below the axis: files were changed)</text>${changeMarks(steps, scale)}${series.map((each, index) => drawn(each, index, scale, last)).reverse()}</svg>${legend(series)}</figure>`;
};
