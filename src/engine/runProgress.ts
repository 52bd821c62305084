import { SandduneError } from "../errors.ts";
import { BoundedCapture } from "../process/boundedCapture.ts";
import type { IterationResult, RunResult } from "../results.ts";

const STDOUT_BYTES = 1024 * 1024;

/** What a run session has to tell so far, whether it ends well or not. */
export class RunProgress {
  readonly iterations: IterationResult[] = [];
  readonly #warnings: string[] = [];
  readonly protectedPaths = new Set<string>();
  commits: string[] = [];
  completionSignal: string | undefined;
  preservedWorktreePath: string | undefined;
  readonly #stdout = new BoundedCapture(STDOUT_BYTES);

  constructor(
    readonly runId: string,
    /** The branch that holds the commits now. */
    public branch: string,
    readonly logFilePath: string,
    private readonly onWarning: (sentence: string) => void,
  ) {}

  /** Says something that the caller should know; the same thing only once. */
  warn(...sentences: readonly string[]): void {
    for (const sentence of sentences) {
      if (this.#warnings.includes(sentence)) continue;
      this.#warnings.push(sentence);
      this.onWarning(sentence);
    }
  }

  addText(text: string): void {
    this.#stdout.pushText(text);
  }

  /** What an error tells too. */
  #reached() {
    return {
      runId: this.runId,
      iterations: this.iterations,
      commits: this.commits.map((sha) => ({ sha })),
      branch: this.branch,
      logFilePath: this.logFilePath,
      warnings: this.#warnings,
      protectedPaths: [...this.protectedPaths],
      ...(this.preservedWorktreePath !== undefined && { preservedWorktreePath: this.preservedWorktreePath }),
    };
  }

  toResult(): RunResult {
    return {
      ...this.#reached(),
      stdout: this.#stdout.text(),
      ...(this.completionSignal !== undefined && { completionSignal: this.completionSignal }),
    };
  }

  attachTo<E>(error: E): E {
    if (error instanceof SandduneError)
      Object.assign(error, { ...this.#reached(), branch: error.branch ?? this.branch });
    return error;
  }
}
