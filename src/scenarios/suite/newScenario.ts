import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ScenarioExistsError } from "../../errors/commandErrors.ts";
import { atHostFile } from "../../errors/hostFile.ts";
import { ScenarioConfigError } from "../../errors.ts";
import { PACKAGE_NAME } from "../../options/packageName.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { isInside } from "../../tools/isInside.ts";
import { loadScenarios } from "../pages/loadScenarios.ts";
import { readPage } from "../pages/readPage.ts";
import { scenarioIdProblem } from "../pages/scenarioId.ts";
import { toolOf } from "./readSuite.ts";
import { type DraftRunnable, draftPage } from "./scenarioDraft.ts";
import type { ScenarioSuite } from "./suite.ts";
import { readSuiteFile, type SuiteChoice, type SuiteFile } from "./suiteFile.ts";
import { suitePathsOf } from "./suitePaths.ts";

export interface NewScenario {
  readonly id: string;
  readonly runnable: DraftRunnable;
  /** Relative to the suite's `fixturesRoot`. It is created if it does not exist. */
  readonly fixture: string;
}

interface NewFile {
  readonly path: string;
  readonly text: string;
}

/** Links that an agent has committed must not lead out of the suite. A directory outside was chosen by the user. */
const checkWay = (root: string, path: string): void => {
  if (!isInside(root, path)) return;
  let parent = dirname(path);
  while (!existsSync(parent)) parent = dirname(parent);
  if (isInside(realpathSync(root), realpathSync(parent))) return;
  throw new ScenarioConfigError(
    path,
    [{ problem: `${parent} is or contains a symbolic link out of the suite, so nothing was written` }],
    "Find out what created it, and remove it",
  );
};

const NOTHING_WRITTEN = "Nothing was written";

const checkId = (id: string, { scenarioDir }: ScenarioSuite): void => {
  const problem = scenarioIdProblem(id);
  if (problem !== undefined) throw new ScenarioConfigError(scenarioDir, [{ problem }], NOTHING_WRITTEN);
};

const checkPage = ({ path, text }: NewFile, suite: ScenarioSuite): void => {
  const problems = readPage(path, text, suite).problems.map(({ problem }) => ({ problem }));
  if (problems.length > 0) throw new ScenarioConfigError(path, problems, NOTHING_WRITTEN);
};

const checkFixture = (directory: string): void => {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  const problem = "it is not a directory, so it cannot be a fixture";
  throw new ScenarioConfigError(directory, [{ problem }], "Name another one with --fixture");
};

const checkThatNew = async (id: string, page: string, suite: ScenarioSuite): Promise<void> => {
  if (entryExists(page)) throw new ScenarioExistsError(id, page);
  if (!entryExists(suite.scenarioDir)) return;
  const { scenarios, ids } = await loadScenarios(suite);
  const twin = ids.find((other) => other.toLowerCase() === id.toLowerCase());
  if (twin === undefined) return;
  // A page with mistakes has an id, too.
  throw new ScenarioExistsError(id, scenarios.find((each) => each.id === twin)?.page ?? suite.scenarioDir);
};

/** The schema of the config file for editors, in a project that has sanddune installed. */
const INSTALLED_SCHEMA = `node_modules/${PACKAGE_NAME}/schemas/scenarios.schema.json`;

const draftConfig = (file: SuiteFile, suite: ScenarioSuite): NewFile => {
  const fromFile = (path: string): string => relative(dirname(file.path), path) || ".";
  const schema = join(suite.root, INSTALLED_SCHEMA);
  const settings = {
    ...(existsSync(schema) && { $schema: fromFile(schema) }),
    scenarioDir: fromFile(suite.scenarioDir),
    fixturesRoot: fromFile(suite.fixturesRoot),
    recordsDir: fromFile(suite.recordsDir),
  };
  return { path: file.path, text: `${JSON.stringify(settings, undefined, 2)}\n` };
};

/** git does not track empty directories. */
const draftFixture = (directory: string): NewFile => ({ path: join(directory, ".gitkeep"), text: "" });

const write = ({ path, text }: NewFile): string =>
  atHostFile(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx" });
    return path;
  });

/**
 * Writes the page of a new scenario, and its fixture and the suite's config file if they do not exist. Overwrites
 * nothing. Resolves with the files that were written, the page first.
 */
export const newScenario = async (choice: SuiteChoice, scenario: NewScenario): Promise<readonly string[]> => {
  const { id, runnable, fixture } = scenario;
  const file = await readSuiteFile(choice);
  const suite: ScenarioSuite = { ...suitePathsOf(file, choice), cliCommand: toolOf(file) };
  checkId(id, suite);
  const page = { path: join(suite.scenarioDir, `${id}.md`), text: draftPage(id, runnable, fixture) };
  checkPage(page, suite);
  await checkThatNew(id, page.path, suite);
  const fixtureDirectory = join(suite.fixturesRoot, fixture);
  checkFixture(fixtureDirectory);
  const files = [
    page,
    ...(entryExists(fixtureDirectory) ? [] : [draftFixture(fixtureDirectory)]),
    ...(file.isThere ? [] : [draftConfig(file, suite)]),
  ];
  for (const { path } of files) checkWay(suite.root, path);
  return files.map(write);
};
