// Many small scenarios, against nothing but the processes that they start.
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "../machine/command.mjs";
import { takeTurns } from "../machine/measure.mjs";
import { withScratchDirectory } from "../machine/scratch.mjs";
import { atMostTimes, timeRow } from "../report/row.mjs";

const ROUNDS = 10;
const SCENARIOS = 40;
const MAX_RATIO = 1.3;

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

const TOOL = `import { writeFileSync } from "node:fs";
writeFileSync("done.txt", process.argv.slice(2).join(" "));
`;

const page = (number) => `# Scenario ${number}

<!-- sandbox-spec:start -->
{
  "runnable": "cli",
  "fixture": "fixture",
  "steps": [{ "cli": "install" }],
  "assertions": [{ "file_exists": "done.txt" }, { "file_contains": { "path": "done.txt", "substr": "install" } }]
}
<!-- sandbox-spec:end -->
`;

const CONFIG = {
  scenarioDir: "scenarios",
  fixturesRoot: ".",
  recordsDir: "runs",
  cliCommand: ["node", "tool.mjs", "{subcommand}", "{projectRoot}", "{...flags}"],
};

const makeSuite = (directory) => {
  for (const name of ["scenarios", "fixture", "project"]) mkdirSync(join(directory, name));
  for (let number = 1; number <= SCENARIOS; number++) {
    writeFileSync(join(directory, "scenarios", `scenario-${number}.md`), page(number));
  }
  writeFileSync(join(directory, "fixture", "package.json"), '{ "name": "fixture" }\n');
  writeFileSync(join(directory, "tool.mjs"), TOOL);
  writeFileSync(join(directory, "suite.json"), JSON.stringify(CONFIG));
};

/** The same processes, as many at a time, and nothing else. */
const startProcesses = async (directory) => {
  const cwd = join(directory, "project");
  let left = SCENARIOS;
  const worker = async () => {
    while (left-- > 0) {
      await new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [join(directory, "tool.mjs"), "install", cwd], {
          cwd,
          stdio: "ignore",
        });
        child.on("close", resolve).on("error", reject);
      });
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
};

const runScenarios = async (directory) => {
  const output = await command(
    process.execPath,
    cli,
    "scenario",
    "run",
    "--config",
    join(directory, "suite.json"),
  );
  if (!output.includes(`${SCENARIOS} passing`)) throw new Error(output);
};

const measure = ({ rounds }) =>
  withScratchDirectory(async (directory) => {
    makeSuite(directory);
    const samples = await takeTurns(
      {
        raw: { perform: () => startProcesses(directory) },
        own: {
          perform: () => runScenarios(directory),
          after: () => rmSync(join(directory, "runs"), { recursive: true }),
        },
      },
      rounds(ROUNDS),
    );
    const name = `${SCENARIOS} scenarios`;
    return { rows: [timeRow({ id: "scenarios/total", name, samples, target: atMostTimes(MAX_RATIO) })] };
  });

export const scenariosBenchmark = { name: "scenarios", problem: () => undefined, measure };
