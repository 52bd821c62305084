// A scenario whose agent prints so many megabytes of short lines; says, as JSON, how long it took.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bubblewrapProblem } from "../machine/runtimes.mjs";
import { withScratchDirectory } from "../machine/scratch.mjs";

const [megabytes, line] = process.argv.slice(2);
const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const SPEC = {
  runnable: "agent",
  fixture: "fixture",
  steps: [{ agent: "flood" }],
  assertions: [{ file_exists: "package.json" }],
};

const result = await withScratchDirectory(async (directory) => {
  for (const name of ["scenarios", "fixture"]) mkdirSync(join(directory, name));
  const page = `# Flood\n\n<!-- sandbox-spec:start -->\n${JSON.stringify(SPEC)}\n<!-- sandbox-spec:end -->\n`;
  writeFileSync(join(directory, "scenarios/flood.md"), page);
  writeFileSync(join(directory, "fixture/package.json"), "{}\n");
  const config = { scenarioDir: "scenarios", fixturesRoot: ".", recordsDir: "runs" };
  writeFileSync(join(directory, "suite.json"), JSON.stringify(config));
  const startedAt = performance.now();
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[cli, "scenario", "run", "--config", join(directory, "suite.json"), "--runnable=agent"],
    ...["--sandbox", bubblewrapProblem() === undefined ? "bubblewrap" : "none"],
    ...["--agent", "command", "--agent-command", `yes '${line}' | head -c ${megabytes}000000; echo`],
  ]);
  if (!stdout.includes("1 passing")) throw new Error(stdout);
  return { durationMs: performance.now() - startedAt };
});
console.log(JSON.stringify(result));
