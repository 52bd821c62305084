// npm run bench: measures everything that this machine can run, prints it, and writes docs/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { benchmarks } from "./benchmarks.mjs";
import { installPeer } from "./contestants/peer.mjs";
import { withScratchDirectory } from "./machine/scratch.mjs";
import { measureAll } from "./measureAll.mjs";
import { parseOptions, selectNames, USAGE } from "./options.mjs";
import { performancePage } from "./report/page.mjs";
import { betterOf, compareRatios, comparisonText, isPassed, updatedRatios } from "./report/ratios.mjs";
import { spreadLines, terminalTable } from "./report/table.mjs";

const ratiosFile = new URL("./ratios.json", import.meta.url);
const pageFile = new URL("../docs/performance.md", import.meta.url);
const readRatios = () => JSON.parse(readFileSync(ratiosFile, "utf8"));

const names = benchmarks.map(({ name }) => name);

const readArguments = () => {
  try {
    const options = parseOptions(process.argv.slice(2));
    return { ...options, selected: selectNames(names, options.wanted) };
  } catch (error) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
};

/** A row that is worse is measured once more before it counts. */
const check = async (results, measureAgain) => {
  const committed = readRatios();
  const compare = (rows) => compareRatios({ committed, rows, benchmarks: results.measured });
  const suspects = compare(results.rows).worse.map(({ id }) => id.slice(0, id.lastIndexOf("/")));
  const again = suspects.length === 0 ? [] : (await measureAgain([...new Set(suspects)])).rows;
  const comparison = compare(betterOf(results.rows, again));
  console.log(comparisonText(comparison));
  if (!isPassed(comparison)) process.exitCode = 1;
};

const write = (results, peer, { wanted, isUpdate }) => {
  const isComplete = wanted.length === 0;
  if (isComplete || isUpdate) {
    writeFileSync(ratiosFile, `${JSON.stringify(updatedRatios(readRatios(), results.rows), null, 2)}\n`);
    console.log("Written: bench/ratios.json");
  }
  if (isComplete) {
    writeFileSync(pageFile, performancePage({ ...results, peer, names }));
    console.log("Written: docs/performance.md");
  }
};

const NO_PEER = { problem: "left out with --no-peer" };

const main = async (options, directory) => {
  const peer = options.hasPeer ? await installPeer(directory) : NO_PEER;
  if (peer.problem !== undefined) console.error(`No peer: ${peer.problem}`);
  const context = { peer, rounds: (count) => options.rounds ?? count };
  const measure = (selected) =>
    measureAll(
      benchmarks.filter(({ name }) => selected.includes(name)),
      context,
    );
  const results = await measure(options.selected);
  console.log(terminalTable(results.rows));
  for (const line of spreadLines(results.rows)) console.log(line);
  if (options.isCheck) await check(results, measure);
  else write(results, peer, options);
  if (results.measured.some(({ hasFailed }) => hasFailed)) process.exitCode = 1;
};

const options = readArguments();
if (options.isHelp) console.log(`${USAGE}\n\nBenchmarks: ${names.join(", ")}`);
else await withScratchDirectory((directory) => main(options, directory));
