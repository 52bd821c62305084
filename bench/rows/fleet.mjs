// Many small runs with runAll(), as many at a time as there are cores, against the same runs one after the other.
import { availableParallelism } from "node:os";
import { command as agentCommand, run, runAll } from "../../dist/index.js";
import { bubblewrap } from "../../dist/sandboxes/bubblewrap.js";
import { timed } from "../machine/measure.mjs";
import { bubblewrapProblem } from "../machine/runtimes.mjs";
import { makeRepository, withScratchDirectory } from "../machine/scratch.mjs";
import { atMostTimes, timeRow } from "../report/row.mjs";

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

const measure = () =>
  withScratchDirectory(async (directory) => {
    const repository = await makeRepository(directory, SMALL);
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
        timeRow({
          id: "fleet/total",
          name: `runAll(), ${RUNS} runs, ${availableParallelism()} at a time`,
          against: "one after the other",
          samples: { raw: [rawMs], own: [ownMs] },
          target: atMostTimes(MAX_RATIO),
        }),
      ],
    };
  });

export const fleetBenchmark = { name: "fleet", problem: bubblewrapProblem, measure };
