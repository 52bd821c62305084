import type { TestResults } from "../../environment/contract.ts";
import { SandduneError } from "../../errors.ts";
import type { CommitDescription } from "../../git/commitDescription.ts";
import { MAX_SUMMARISED } from "../../git/workSummary.ts";
import type {
  Artifact,
  CheckoutKind,
  IterationResult,
  IterationUsage,
  KeptRef,
  SandboxRunResult,
} from "../../options/results.ts";
import { addUsage } from "../../options/usage.ts";
import { redactData } from "../../redaction/redactData.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";

const STDOUT_BYTES = 1024 * 1024;

/** The progress of a run session, for its result or its error. */
export class RunProgress {
  readonly #iterations: IterationResult[] = [];
  readonly #tests = new Map<number, TestResults>();
  #failedIteration: IterationResult | undefined;
  #usage: IterationUsage | undefined;
  readonly #warnings: string[] = [];
  readonly protectedPaths = new Set<string>();
  /** The user's uncommitted files that the run's commits contain. */
  readonly committedUserPaths = new Set<string>();
  commits: string[] = [];
  /** Git's descriptions of these commits, from the first on, as far as they are known. */
  described: readonly CommitDescription[] = [];
  readonly #keptRefs = new Map<string, KeptRef>();
  completionSignal: string | undefined;
  /** Whether all tests passed after the last iteration. Set only with `until`. */
  solved: boolean | undefined;
  /** The exit code of the agent in an interactive session. */
  exitCode: number | undefined;
  /** The captured agent session of an interactive session. */
  agentSession: { readonly sessionId: string; readonly sessionFilePath: string } | undefined;
  preservedWorktreePath: string | undefined;
  /** How the files of the checkout were made. */
  checkout: CheckoutKind | undefined;
  trajectoryPath: string | undefined;
  artifacts: readonly Artifact[] | undefined;
  output: unknown;
  readonly #stdout = new BoundedCapture(STDOUT_BYTES);

  constructor(
    readonly runId: string,
    /** The branch that has the commits. */
    public branch: string,
    readonly logFilePath: string,
    private readonly redactor: Redactor,
    private readonly onWarning: (sentence: string) => void,
  ) {}

  /** Adds warnings for the caller, each only once. */
  warn(...sentences: readonly string[]): void {
    for (const sentence of sentences.map((said) => this.redactor.text(said))) {
      if (this.#warnings.includes(sentence)) continue;
      this.#warnings.push(sentence);
      this.onWarning(sentence);
    }
  }

  /** Sets the commits of the run, oldest first. */
  noteCommits(commits: readonly CommitDescription[]): void {
    this.commits = commits.map(({ sha }) => sha);
    this.described = commits.slice(0, MAX_SUMMARISED);
  }

  /** Adds imported refs other than the source branch. */
  addKeptRefs(kept: readonly KeptRef[]): void {
    for (const each of kept) this.#keptRefs.set(each.ref, { ...each, name: this.redactor.text(each.name) });
  }

  addIteration(result: IterationResult, failed: boolean): void {
    if (failed) this.#failedIteration = result;
    else this.#iterations.push(result);
    if (result.usage !== undefined) this.#usage = addUsage(this.#usage, result.usage);
  }

  /** Adds the test results of an iteration. The iteration itself may be added before or after. */
  addTests(iteration: number, results: TestResults): void {
    this.#tests.set(iteration, results);
  }

  #withTests = (result: IterationResult, index: number): IterationResult => {
    const tests = this.#tests.get(index + 1);
    return tests === undefined ? result : { ...result, tests };
  };

  addText(text: string): void {
    this.#stdout.pushText(text);
  }

  /** The kept end of the agent's text. */
  get text(): string {
    // Redacted again: a secret may have been split across chunks.
    return this.redactor.text(this.#stdout.text());
  }

  /** The progress that both a result and an error have. */
  reached() {
    const { runId, solved, branch, logFilePath, checkout, preservedWorktreePath, trajectoryPath, artifacts } =
      this;
    const redacted = (paths: ReadonlySet<string>) => [...paths].map((path) => this.redactor.text(path));
    return withoutUndefined({
      ...{ runId, solved, branch, logFilePath, checkout, preservedWorktreePath, trajectoryPath, artifacts },
      iterations: this.#iterations.map(this.#withTests),
      usage: this.#usage,
      failedIteration: this.#failedIteration,
      commits: this.commits.map((sha) => ({ sha })),
      keptRefs: this.#keptRefs.size > 0 ? [...this.#keptRefs.values()] : undefined,
      warnings: this.#warnings,
      protectedPaths: redacted(this.protectedPaths),
      committedUserPaths: this.committedUserPaths.size > 0 ? redacted(this.committedUserPaths) : undefined,
      ...this.agentSession,
    });
  }

  toResult(): SandboxRunResult {
    const { output, text: stdout, completionSignal } = this;
    return { output, ...this.reached(), stdout, ...withoutUndefined({ completionSignal }) };
  }

  attachTo<E>(error: E): E {
    redactData(this.redactor, error);
    if (error instanceof SandduneError)
      Object.assign(error, { ...this.reached(), branch: error.branch ?? this.branch });
    return error;
  }
}
