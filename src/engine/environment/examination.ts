import * as Effect from "effect/Effect";
import { redactData } from "../../env/redactData.ts";
import { allPassed, type TestResults } from "../../environment/contract.ts";
import type { SandduneError } from "../../errors.ts";
import { shellQuote } from "../../process/shellQuote.ts";
import type { SandboxWork } from "../importWork.ts";
import type { Examination } from "../iterationLoop.ts";
import { timed } from "../phases.ts";
import type { AgentPlan } from "../plan.ts";
import type { LiveEnvironment } from "./live.ts";

const summaryOf = ({ passed, total, error }: TestResults): string =>
  `${passed} of ${total} tests pass.${error === null ? "" : ` ${error.split("\n", 1)[0]}`}`;

/** The tests after each iteration of a run: shows and keeps what came of them. */
export class TestedIterations {
  /** What came of the last ones. */
  last: TestResults | undefined;

  constructor(
    private readonly work: SandboxWork,
    private readonly environment: LiveEnvironment,
    private readonly plan: Pick<AgentPlan, "untilTestsPass">,
  ) {
    // Until tests have passed: a run that fails before that has solved nothing.
    if (plan.untilTestsPass) work.session.progress.solved = false;
  }

  get examination(): Examination {
    return {
      when: this.environment.tests === "files" ? "before" : "after",
      decides: this.plan.untilTestsPass,
      examine: (iteration) => this.#examine(iteration),
    };
  }

  /** A run that was to continue until all tests pass, and may not continue any longer, says so. */
  warnIfUnsolved(): void {
    const { last } = this;
    const { progress } = this.work.session;
    if (progress.solved !== false || last === undefined) return;
    progress.warn(
      `The tests did not all pass before the last iteration was over: ${summaryOf(last)}${this.#unmerged}`,
    );
  }

  /** Where the commits are, if merge-to-head would have merged them. */
  get #unmerged(): string {
    const { branches, branch, tip, landed } = this.work.sandbox.checkout;
    if (branches.strategy !== "merge-to-head" || branch === undefined || tip === landed) return "";
    const target = branches.targetBranch ?? "HEAD";
    return ` The commits on ${branch} were not merged into ${target}. To merge them all the same: git merge ${shellQuote(branch)}`;
  }

  /** `undefined` if the files were tested as they are. */
  get #testedCommit(): string | undefined {
    return this.environment.tests === "commit" ? this.work.sandbox.checkout.tip : undefined;
  }

  #examine(iteration: number): Effect.Effect<boolean, SandduneError> {
    const { session, sandbox, trajectory } = this.work;
    const { display, progress, journal, redactor } = session;
    return timed(
      session,
      { phase: "tests", label: "Running the environment's tests" },
      Effect.suspend(() =>
        // What tests leave in the files is none of the agent's actions.
        Effect.andThen(
          trajectory?.settle(false) ?? Effect.void,
          this.environment.evaluate(sandbox.checkout.tip),
        ),
      ),
    ).pipe(
      Effect.map((told) => {
        const results = redactData(redactor, told);
        const passes = allPassed(results);
        this.last = results;
        if (this.plan.untilTestsPass) progress.solved = passes;
        progress.addTests(iteration, results);
        trajectory?.tests(iteration, results, this.#testedCommit);
        const { passed, failed, total, error } = results;
        journal.tell({ type: "tests", iteration, passed, failed, total, error });
        display.note(summaryOf(results));
        return passes;
      }),
    );
  }
}
