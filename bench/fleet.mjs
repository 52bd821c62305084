// Many small runs with runAll(), as many at a time as there are cores, against the same runs one after the other.
import { availableParallelism } from "node:os";
import { command as agentCommand, run, runAll } from "../dist/index.js";
import { bubblewrap } from "../dist/sandboxes/bubblewrap.js";
import { bubblewrapProblem } from "./runtimes.mjs";
import { makeRepository, withScratchDirectory } from "./scratch.mjs";

const RUNS = 50;
const SMALL = 10;
/** Starting processes and writing objects are the machine's: not all of a run can be had side by side. */
const MAX_RATIO = 0.8;

const taskOf = (repository, side, number) => ({
  agent: agentCommand("sh agent.sh"),
  sandbox: bubblewrap(),
  cwd: repository,
  branchStrategy: { type: "branch", branch: `${side}/${number}` },
  prompt: "Work",
  logging: { type: "file", quiet: true },
});

const timed = async (work) => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

const measure = () =>
  withScratchDirectory(async (directory) => {
    const repository = makeRepository(directory, SMALL);
    const tasks = (side) => Array.from({ length: RUNS }, (_, number) => taskOf(repository, side, number));
    await run(taskOf(repository, "warm-up", 0));
    const rawMs = await timed(async () => {
      for (const task of tasks("single")) await run(task);
    });
    const ownMs = await timed(async () => {
      const { succeeded } = await runAll(tasks("fleet"));
      if (succeeded !== RUNS) throw new Error(`only ${succeeded} of ${RUNS} runs succeeded`);
    });
    return {
      rows: [
        {
          name: `runAll(), ${RUNS} runs, ${availableParallelism()} at a time`,
          raw: `${Math.round(rawMs)} ms (one after the other)`,
          own: `${Math.round(ownMs)} ms`,
          figure: `${(ownMs / rawMs).toFixed(2)}x`,
          target: `at most ${MAX_RATIO}x`,
          isMet: ownMs / rawMs <= MAX_RATIO,
        },
      ],
    };
  });

export const fleetBenchmark = { name: "fleet", problem: bubblewrapProblem, measure };
