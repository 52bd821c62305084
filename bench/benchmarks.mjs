// Everything that is measured, in the order of the table.
import { atOnceBenchmarks } from "./rows/atOnce.mjs";
import { diskBenchmarks } from "./rows/disk.mjs";
import { environmentBenchmarks } from "./rows/environment.mjs";
import { firstAddBenchmarks } from "./rows/firstAdd.mjs";
import { fleetBenchmark } from "./rows/fleet.mjs";
import { floodBenchmark } from "./rows/flood.mjs";
import { iterationsBenchmark } from "./rows/iterations.mjs";
import { processBenchmarks } from "./rows/processes.mjs";
import { scenariosBenchmark } from "./rows/scenarios.mjs";
import { sessionBenchmarks } from "./rows/sessions.mjs";
import { setupBenchmarks } from "./rows/setup.mjs";
import { startBenchmark } from "./rows/start.mjs";
import { warmBenchmarks } from "./rows/warm.mjs";

export const benchmarks = [
  ...sessionBenchmarks,
  ...firstAddBenchmarks,
  ...diskBenchmarks,
  ...processBenchmarks,
  ...atOnceBenchmarks,
  ...warmBenchmarks,
  ...setupBenchmarks,
  iterationsBenchmark,
  ...environmentBenchmarks,
  fleetBenchmark,
  floodBenchmark,
  startBenchmark,
  scenariosBenchmark,
];
