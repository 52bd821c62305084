import { expect, it } from "vitest";
import { showDuration } from "../../src/display/duration.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it.each([
  [0, "0.0 s"],
  [49, "0.0 s"],
  [400, "0.4 s"],
  [9_949, "9.9 s"],
  [9_950, "10 s"],
  [12_400, "12 s"],
  [59_499, "59 s"],
  [59_500, "1 min 0 s"],
  [185_000, "3 min 5 s"],
  [HOUR - 501, "59 min 59 s"],
  [HOUR - 500, "1 h 0 min"],
  [HOUR + 2 * MINUTE, "1 h 2 min"],
  [2 * HOUR - 1, "2 h 0 min"],
  [27 * HOUR, "27 h 0 min"],
])("%i ms are shown as %j", (durationMs, shown) => {
  expect(showDuration(durationMs)).toBe(shown);
});
