// npm run bench: measures everything that this machine can run, prints it, and writes docs/performance.md.
import { writeFileSync } from "node:fs";
import { environmentBenchmarks } from "./environment.mjs";
import { fleetBenchmark } from "./fleet.mjs";
import { floodBenchmark } from "./flood.mjs";
import { importBenchmark } from "./importCost.mjs";
import { performancePage, spreadLines, terminalTable } from "./report.mjs";
import { scenariosBenchmark } from "./scenarios.mjs";
import { sessionBenchmarks } from "./sessions.mjs";
import { warmBenchmark } from "./warm.mjs";

const benchmarks = [
  ...sessionBenchmarks,
  warmBenchmark,
  ...environmentBenchmarks,
  fleetBenchmark,
  floodBenchmark,
  importBenchmark,
  scenariosBenchmark,
];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(", ")}. Known are: ${benchmarks.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

const results = { rows: [], sessions: [], skipped: [] };
for (const { name, problem, measure } of benchmarks) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const reason = problem();
  if (reason !== undefined) {
    console.error(`Skipped: ${name}. ${reason}`);
    results.skipped.push({ name, problem: reason });
    continue;
  }
  console.error(`Measuring: ${name} …`);
  const { rows, phases = [] } = await measure();
  results.rows.push(...rows);
  results.sessions.push(...phases);
}

console.log(terminalTable(results.rows));
for (const line of spreadLines(results.rows)) console.log(line);

if (wanted.length === 0) {
  writeFileSync(
    new URL("../docs/performance.md", import.meta.url),
    performancePage({ ...results, names: benchmarks.map(({ name }) => name) }),
  );
  console.log("Written: docs/performance.md");
}
