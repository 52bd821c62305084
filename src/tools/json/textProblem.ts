/** What is wrong at a line of a text. */
export interface LineProblem {
  /** Counted from 1. */
  readonly line: number;
  /** What it is, and what would be right: a sentence without its full stop. */
  readonly problem: string;
}

/** A text that cannot be read any further. */
export class TextProblem extends Error implements LineProblem {
  constructor(
    readonly line: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}
