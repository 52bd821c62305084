import * as Effect from "effect/Effect";
import { allPassed, type TestResults } from "../../environment/contract.ts";
import type { SandduneError } from "../../errors.ts";
import { isDifferentIn } from "../../git/snapshots/committedFolder.ts";
import type { AgentSettings } from "../../options/agentSettings.ts";
import { redactData } from "../../redaction/redactData.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { TestGate } from "../iterations/iterationLoop.ts";
import type { SandboxWork } from "../landing/importWork.ts";
import { timed } from "../session/phases.ts";
import type { LiveEnvironment } from "./liveEnvironment.ts";

const summaryOf = ({ passed, total, error }: TestResults): string =>
  `${passed} of ${total} tests pass.${error === null ? "" : ` ${error.split("\n", 1)[0]}`}`;

const ONLY_COMMITS = "Uncommitted and ignored files were not tested.";

/** Runs the tests after each iteration, and shows and keeps their results. */
export class IterationTests implements TestGate {
  /** The results after the last iteration. */
  last: TestResults | undefined;
  readonly decides: boolean;

  constructor(
    private readonly work: SandboxWork,
    private readonly environment: LiveEnvironment,
    { until }: Pick<AgentSettings, "until">,
  ) {
    this.decides = until === "tests-pass";
    // A run that fails before its tests pass is unsolved.
    if (this.decides) work.session.progress.solved = false;
  }

  get prepare(): Effect.Effect<void> {
    return this.environment.prepare;
  }

  /** Warns if the last iteration ended with failing tests. */
  warnIfUnsolved(): void {
    const { last } = this;
    const { progress } = this.work.session;
    if (progress.solved !== false || last === undefined) return;
    progress.warn(
      `Some tests still failed after the last iteration: ${summaryOf(last)} ${ONLY_COMMITS}${this.#unmerged}`,
    );
  }

  /** Warns if the tests on the branch differ from those that were run: an agent may have changed them. */
  warnIfChanged(): Effect.Effect<void> {
    const { source } = this.environment;
    const { session, sandbox } = this.work;
    const { branch = "HEAD", tip } = sandbox.checkout;
    if (source.type === "folder") return Effect.void;
    const { folder } = source;
    // If the comparison fails, for example because the commit no longer exists, warn too.
    const compared = Effect.catch(isDifferentIn(folder, tip), () => Effect.succeed(true));
    return Effect.map(compared, (isDifferent) => {
      if (!isDifferent) return;
      const path = folder.path || ".";
      const commit = folder.commit.slice(0, 7);
      session.progress.warn(
        `${branch} changes the environment ${path}. This run used the version of the commit ${commit}; later runs use the changed version once it is in your checkout. Review it first: git diff ${commit} ${tip.slice(0, 7)} -- ${shellQuote(path)}`,
      );
    });
  }

  /** A sentence about the commits that merge-to-head did not merge. */
  get #unmerged(): string {
    const { branches, branch, tip, landed } = this.work.sandbox.checkout;
    if (branches.strategy !== "merge-to-head" || branch === undefined || tip === landed) return "";
    const target = branches.targetBranch ?? "HEAD";
    return ` The commits on ${branch} were not merged into ${target}. To merge them anyway: git merge ${shellQuote(branch)}`;
  }

  run(iteration: number): Effect.Effect<boolean, SandduneError> {
    const { session, sandbox, trajectory } = this.work;
    const { display, progress, journal, redactor } = session;
    return timed(
      session,
      { phase: "tests", label: "Running the environment's tests" },
      Effect.suspend(() => this.environment.evaluate(sandbox.checkout.tip)),
    ).pipe(
      Effect.map((told) => {
        const results = redactData(redactor, told);
        const passes = allPassed(results);
        this.last = results;
        if (this.decides) progress.solved = passes;
        progress.addTests(iteration, results);
        trajectory?.tests(iteration, results, sandbox.checkout.tip);
        const { passed, failed, total, error } = results;
        journal.tell({ type: "tests", iteration, passed, failed, total, error });
        display.note(summaryOf(results));
        return passes;
      }),
    );
  }
}
