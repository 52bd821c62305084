import { showMs } from "../../../markup/words.ts";
import type { ScenarioResult } from "../../records/record.ts";
import type { RunnerHistory } from "../model.ts";

/** The bar of one execution. */
export interface Bar {
  readonly x: number;
  readonly y: number;
  readonly height: number;
  readonly result: ScenarioResult;
}

/** A bar chart of the durations of a runner's executions, oldest first. */
export interface Bars {
  readonly bars: readonly Bar[];
  readonly width: number;
  readonly height: number;
  readonly barWidth: number;
  /** A description for screen readers. */
  readonly label: string;
}

const MOST = 24;
const HEIGHT = 20;
const BAR_WIDTH = 3;
const STEP = 5;
/** The shortest bar is still visible. */
const LOWEST = 2;

const round = (value: number): number => Math.round(value * 10) / 10;

/** The chart of the durations; `undefined` if there are fewer than two executions. */
export const durationBars = ({ executions }: RunnerHistory): Bars | undefined => {
  const graded = executions.filter(({ result }) => result !== "manual");
  const shown = graded.slice(0, MOST).toReversed();
  if (shown.length < 2) return undefined;
  const durations = shown.map(({ duration_ms }) => duration_ms);
  const [shortest, longest] = [Math.min(...durations), Math.max(...durations)];
  return {
    bars: shown.map(({ duration_ms, result }, index) => {
      const height = round(Math.max(LOWEST, (HEIGHT * duration_ms) / Math.max(longest, 1)));
      return { x: index * STEP, y: round(HEIGHT - height), height, result };
    }),
    width: shown.length * STEP - (STEP - BAR_WIDTH),
    height: HEIGHT,
    barWidth: BAR_WIDTH,
    label: `Durations of the last ${shown.length} executions, oldest first: ${showMs(shortest)} to ${showMs(longest)}`,
  };
};
