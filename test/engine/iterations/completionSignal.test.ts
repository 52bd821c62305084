import { expect, it } from "vitest";
import { CompletionSignalMatcher } from "../../../src/engine/iterations/completionSignal.ts";
import { cutText, seededRandom } from "../../helpers/seededRandom.ts";

const match = (signals: string[], pieces: string[]): string | undefined => {
  const matcher = new CompletionSignalMatcher(signals);
  for (const piece of pieces) matcher.push(piece);
  return matcher.matched;
};

it.each([
  ["finds a signal", ["DONE"], ["all DONE now"], "DONE"],
  ["finds none", ["DONE"], ["almost DON", "X"], undefined],
  [
    "finds a signal that is split between pieces",
    ["<promise>COMPLETE</promise>"],
    ["<prom", "ise>COMPL", "ETE</promise>"],
    "<promise>COMPLETE</promise>",
  ],
  ["finds a signal split character by character", ["DONE"], [..."so DONE"], "DONE"],
  [
    "takes the one that comes first in the text, not in the list",
    ["B_LATE", "A_EARLY"],
    ["A_EARLY B_LATE"],
    "A_EARLY",
  ],
  ["keeps the first of two pieces", ["ONE", "TWO"], ["TWO", "ONE"], "TWO"],
  ["is not confused by an overlap", ["aab"], ["aa", "ab"], "aab"],
])("%s", (_, signals, pieces, expected) => {
  expect(match(signals, pieces)).toBe(expected);
});

it("finds a signal far into a long stream", () => {
  const matcher = new CompletionSignalMatcher(["<end>"]);
  for (let index = 0; index < 10_000; index++) matcher.push("x".repeat(100));
  matcher.push("<e");
  matcher.push("nd>");
  expect(matcher.matched).toBe("<end>");
});

it.each([1, 2, 3, 4, 5])("finds the first of several signals wherever the text is cut (seed %i)", (seed) => {
  const random = seededRandom(seed);
  for (let round = 0; round < 20; round++) {
    const filler = () => "<promise>COMPLETE</prom\n".repeat(random(2000));
    const [first, second] = random(2) === 0 ? ["<one/>", "<another/>"] : ["<another/>", "<one/>"];
    const text = `${filler()}${first}${filler()}${second}`;
    const matcher = new CompletionSignalMatcher(["<one/>", "<another/>"]);
    for (const piece of cutText(text, random, 1 + random(5000))) {
      matcher.push(piece);
      // Asking in between changes nothing.
      if (random(10) === 0) void matcher.matched;
    }
    expect(matcher.matched).toBe(first);
  }
});
