import { resolve } from "node:path";
import type { Command } from "commander";
import type { Replay } from "../../trajectory/read/replay.ts";
import { showTests } from "../../trajectory/show/words.ts";
import { addSandboxFlags, type SandboxFlags, sandboxFor } from "../run/sandboxFlags.ts";
import { tell } from "../shared/output.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";

/** The flags of `sanddune replay --evaluate`. */
export interface EvaluateFlags extends SandboxFlags {
  readonly cwd?: string;
  readonly evaluate?: string;
}

const STOPPED = {
  subject: "The evaluation",
  kept: "The results so far are kept.",
  tidying: "closing its sandbox",
};

export const addEvaluateFlags = (command: Command): Command =>
  addSandboxFlags(
    command
      .optionsGroup("Evaluation:")
      .option(
        "--evaluate <dir>",
        "run the tests of an environment on the files after every step that changed files",
      ),
  );

/** Runs the tests of an environment on every commit of a recorded run, in one sandbox, and stores the results. */
export const evaluate = async (replay: Replay, directory: string, flags: EvaluateFlags): Promise<void> => {
  const [{ openCommitEvaluator }, { evaluateSteps, stepsToEvaluate }] = await Promise.all([
    import("../../engine/environment/tests/evaluateCommits.ts"),
    import("../../trajectory/read/evaluate.ts"),
  ]);
  const sandbox = await sandboxFor(flags, flags.cwd);
  using stop = stopOnSignals(STOPPED);
  const { signal } = stop;
  const cwd = flags.cwd ?? ".";
  const onProgress = (sentence: string) => void tell(sentence);
  const environment = resolve(directory);
  const evaluator = await openCommitEvaluator({ environment, sandbox, cwd, signal, onProgress });
  const last = stepsToEvaluate(replay).at(-1)?.number ?? 0;
  try {
    await evaluateSteps(replay, {
      environment,
      evaluateCommit: (commit) => evaluator.evaluate(commit),
      onResults: ({ number }, results) => void tell(`Step ${number} of ${last}: ${showTests(results)}`),
      signal,
    });
  } finally {
    await evaluator.close();
  }
};
