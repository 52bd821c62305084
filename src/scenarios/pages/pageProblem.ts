import type { LineProblem } from "../../tools/json/textProblem.ts";

/** What is wrong with a scenario page. */
export interface PageProblem extends LineProblem {
  /** Absolute. */
  readonly page: string;
}
