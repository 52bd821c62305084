// An agent that prints without end: the memory of the orchestrator must not follow, and its time must follow evenly.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./measure.mjs";

const SMALL_MB = 50;
const LARGE_MB = 200;
const ROUNDS = 3;
const MAX_GROWTH_MB = 60;
/** Of the time per MB; anything that is not linear is far beyond. */
const MAX_TIME_RATIO = 1.2;

const execute = promisify(execFile);
const floodedRun = fileURLToPath(new URL("./floodedRun.mjs", import.meta.url));

/** In a process of its own: memory is only measured well where nothing else has been. */
const flood = async (megabytes) =>
  JSON.parse((await execute(process.execPath, [floodedRun, String(megabytes)])).stdout);

const measure = async () => {
  const samples = { small: [], large: [] };
  for (let round = 0; round < ROUNDS; round++) {
    samples.small.push(await flood(SMALL_MB));
    samples.large.push(await flood(LARGE_MB));
  }
  const growthOf = (runs) => Math.max(...runs.map(({ growthMb }) => growthMb));
  const perMegabyteOf = (runs, megabytes) => median(runs.map(({ durationMs }) => durationMs)) / megabytes;
  const [smallPace, largePace] = [
    perMegabyteOf(samples.small, SMALL_MB),
    perMegabyteOf(samples.large, LARGE_MB),
  ];
  const growth = growthOf(samples.large);
  const ratio = largePace / smallPace;
  return {
    rows: [
      {
        name: `memory, agent prints ${LARGE_MB} MB`,
        raw: `${Math.round(growthOf(samples.small))} MB (at ${SMALL_MB} MB)`,
        own: `${Math.round(growth)} MB`,
        figure: `+${Math.round(growth)} MB`,
        target: `below +${MAX_GROWTH_MB} MB`,
        isMet: growth < MAX_GROWTH_MB,
      },
      {
        name: `time per MB, agent prints ${LARGE_MB} MB`,
        raw: `${smallPace.toFixed(1)} ms (at ${SMALL_MB} MB)`,
        own: `${largePace.toFixed(1)} ms`,
        figure: `${ratio.toFixed(2)}x`,
        target: `constant (at most ${MAX_TIME_RATIO}x)`,
        isMet: ratio <= MAX_TIME_RATIO,
      },
    ],
  };
};

export const floodBenchmark = { name: "flood", problem: () => undefined, measure };
