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
const [floodedRun, floodedScenario] = ["./floodedRun.mjs", "./floodedScenario.mjs"].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);

/** In a process of its own: memory is only measured well where nothing else has been. */
const inProcess = async (program, ...args) =>
  JSON.parse((await execute(process.execPath, [program, ...args])).stdout);
const flood = (megabytes) => inProcess(floodedRun, String(megabytes));

/** Short lines: what is done for each of them counts most. */
const SHORT_LINE = "y";
const SHORT_LINES_MB = 30;
const MAX_SCENARIO_RATIO = 1.5;

const shortLines = async () => {
  const samples = { raw: [], own: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const args = [String(SHORT_LINES_MB), SHORT_LINE];
    samples.raw.push((await inProcess(floodedRun, ...args)).durationMs);
    samples.own.push((await inProcess(floodedScenario, ...args)).durationMs);
  }
  const [rawMs, ownMs] = [median(samples.raw), median(samples.own)];
  return {
    name: `scenario, agent prints ${SHORT_LINES_MB} MB of short lines`,
    raw: `${Math.round(rawMs)} ms (run())`,
    own: `${Math.round(ownMs)} ms`,
    figure: `${(ownMs / rawMs).toFixed(2)}x`,
    target: `at most ${MAX_SCENARIO_RATIO}x`,
    isMet: ownMs / rawMs <= MAX_SCENARIO_RATIO,
    samples,
  };
};

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
      await shortLines(),
    ],
  };
};

export const floodBenchmark = { name: "flood", problem: () => undefined, measure };
