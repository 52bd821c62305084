export interface LineProblem {
  /** Counted from 1. */
  readonly line: number;
  /** The problem and its correction: a sentence without its full stop. */
  readonly problem: string;
}

/** Reading stops at this problem. */
export class TextProblem extends Error implements LineProblem {
  constructor(
    readonly line: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}
