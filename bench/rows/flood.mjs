// An agent that prints without end: the memory of the orchestrator must not follow, and its time must follow evenly.
import { fileURLToPath } from "node:url";
import { command } from "../machine/command.mjs";
import { median } from "../machine/measure.mjs";
import { atMostTimes, countRow, timeRow } from "../report/row.mjs";

const SMALL_MB = 50;
const LARGE_MB = 200;
const ROUNDS = 3;
const MAX_GROWTH_MB = 60;
/** Of the time per MB; anything that is not linear is far beyond. */
const MAX_TIME_RATIO = 1.2;
const MIN_MB_PER_SECOND = 100;
/** Short lines: the work for each of them counts most. */
const SHORT_LINE = "y";
const SHORT_LINES_MB = 30;
const MAX_SCENARIO_RATIO = 1.5;

const fileOf = (name) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
const [floodedRun, floodedScenario, drain] = ["floodedRun.mjs", "floodedScenario.mjs", "drain.mjs"].map(
  fileOf,
);

/** In a process of its own: memory is only measured well where nothing else has been. */
const inProcess = async (program, ...args) =>
  JSON.parse(await command(process.execPath, program, ...args.map(String)));

const durations = (runs) => runs.map(({ durationMs }) => durationMs);

const shortLines = async (rounds) => {
  const samples = { raw: [], own: [] };
  for (let round = 0; round < rounds; round++) {
    samples.raw.push((await inProcess(floodedRun, SHORT_LINES_MB, SHORT_LINE)).durationMs);
    samples.own.push((await inProcess(floodedScenario, SHORT_LINES_MB, SHORT_LINE)).durationMs);
  }
  return timeRow({
    id: "flood/scenario",
    name: `scenario, agent prints ${SHORT_LINES_MB} MB of short lines`,
    against: "run()",
    samples,
    target: atMostTimes(MAX_SCENARIO_RATIO),
  });
};

/** Megabytes in a second; the ratio is of the times, so that a lower one is better here, too. */
const paceRow = (raw, own) => {
  const row = timeRow({
    id: "flood/pace",
    name: `stream, agent prints ${LARGE_MB} MB`,
    samples: { raw, own },
  });
  const pace = (samples) => (LARGE_MB * 1000) / median(samples);
  return {
    ...row,
    raw: `${Math.round(pace(raw))} MB/s`,
    own: `${Math.round(pace(own))} MB/s`,
    target: `at least ${MIN_MB_PER_SECOND} MB/s`,
    isMet: pace(own) >= MIN_MB_PER_SECOND,
  };
};

const measure = async ({ rounds }) => {
  const samples = { raw: [], small: [], large: [] };
  for (let round = 0; round < rounds(ROUNDS); round++) {
    samples.raw.push(await inProcess(drain, LARGE_MB));
    samples.small.push(await inProcess(floodedRun, SMALL_MB));
    samples.large.push(await inProcess(floodedRun, LARGE_MB));
  }
  const growthOf = (runs) => Math.max(...runs.map(({ growthMb }) => growthMb));
  const per100Megabytes = (runs, megabytes) =>
    durations(runs).map((durationMs) => (durationMs / megabytes) * 100);
  return {
    rows: [
      paceRow(durations(samples.raw), durations(samples.large)),
      countRow({
        ...{ id: "flood/memory", name: `memory, agent prints ${LARGE_MB} MB` },
        ...{ own: growthOf(samples.large), unit: " MB", limit: MAX_GROWTH_MB, noise: 10 },
      }),
      timeRow({
        ...{
          id: "flood/linear",
          name: `time of 100 MB, agent prints ${LARGE_MB} MB`,
          against: `of ${SMALL_MB}`,
        },
        samples: {
          raw: per100Megabytes(samples.small, SMALL_MB),
          own: per100Megabytes(samples.large, LARGE_MB),
        },
        target: atMostTimes(MAX_TIME_RATIO, ": constant"),
      }),
      await shortLines(rounds(ROUNDS)),
    ],
  };
};

export const floodBenchmark = { name: "flood", problem: () => undefined, measure };
