import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunsIndex, ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import type { ScenarioSpec } from "../../../src/scenarios/spec.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { runCli } from "../callCli.ts";
import type { CliOptions, CliResult } from "../startCli.ts";

/** The suite's tool: it prints how it was called. */
const TOOL = `console.log(JSON.stringify(process.argv.slice(2)));
if (process.argv[2] === "fail") process.exit(3);
`;

/** Paths with what is in the files, below the suite. */
export type SuiteFiles = Readonly<Record<string, string>>;

export interface SuiteParts {
  /** By file name without its ending: a spec, or a whole page. */
  readonly pages: Readonly<Record<string, ScenarioSpec | string>>;
  readonly files?: SuiteFiles;
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A page with nothing around the spec but its markers. */
export const pageOf = (spec: unknown): string =>
  `<!-- sandbox-spec:start -->\n${JSON.stringify(spec, null, 2)}\n<!-- sandbox-spec:end -->\n`;

/** A scenario that passes unless it is told otherwise. */
export const spec = (parts: Partial<ScenarioSpec> = {}): ScenarioSpec => ({
  runnable: "cli",
  fixture: "fixtures/base",
  steps: [{ cmd: ["true"] }],
  assertions: [{ file_exists: "base.txt" }],
  ...parts,
});

/** What a shell does as a step. */
export const sh = (script: string) => ({ cmd: ["sh", "-c", script] });

export const FAILING = spec({ assertions: [{ file_exists: "missing.txt" }] });

/** Writes a suite with one fixture and one tool, outside any repository. */
export const makeSuite = ({ pages, files = {}, settings = {} }: SuiteParts): string => {
  const cwd = temporaryDirectory();
  const config = {
    scenarioDir: "../scenarios",
    fixturesRoot: "..",
    recordsDir: "../runs",
    cliCommand: ["node", "../bin/tool.mjs", "{subcommand}", "{...flags}"],
    ...settings,
  };
  const all: SuiteFiles = {
    ".sanddune/scenarios.json": JSON.stringify(config),
    "bin/tool.mjs": TOOL,
    "fixtures/base/base.txt": "base\n",
    ...Object.fromEntries(
      Object.entries(pages).map(([name, page]) => [
        `scenarios/${name}.md`,
        typeof page === "string" ? page : pageOf(page),
      ]),
    ),
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  return cwd;
};

export const runScenarios = (
  cwd: string,
  flags: readonly string[] = [],
  options: Partial<CliOptions> = {},
): Promise<CliResult> => runCli(["scenario", "run", ...flags], { cwd, ...options });

const names = (path: string): string[] => (existsSync(path) ? readdirSync(path).sort() : []);

/** The records of a scenario, oldest first. */
export const recordsOf = (cwd: string, id: string): ScenarioRecord[] =>
  names(join(cwd, "runs", id)).map((name) => JSON.parse(readFileSync(join(cwd, "runs", id, name), "utf8")));

/** The only record of a scenario. */
export const recordOf = (cwd: string, id: string): ScenarioRecord => {
  const [record, ...others] = recordsOf(cwd, id);
  if (record === undefined || others.length > 0) {
    throw new Error(`there are ${others.length + (record === undefined ? 0 : 1)} records of ${id}`);
  }
  return record;
};

/** The result of the newest record of each scenario that has one. */
export const resultsIn = (cwd: string): Record<string, string> =>
  Object.fromEntries(
    names(join(cwd, "runs"))
      .filter((id) => id !== "index.json")
      .map((id) => [id, recordsOf(cwd, id).at(-1)?.result ?? "none"]),
  );

export const readIndex = (cwd: string): RunsIndex =>
  JSON.parse(readFileSync(join(cwd, "runs/index.json"), "utf8"));
