import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ScenarioConfigError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { isDirectory } from "../../tools/files/entries.ts";
import type { ScenarioSuitePaths } from "../contract.ts";
import { type PathSetting, pathOf, type SuiteChoice, type SuiteFile, settingError } from "./suiteFile.ts";

/** Where the pages are, unless the config file says otherwise. */
const DEFAULT_SCENARIO_DIR = "docs/testing/scenarios";

const RECORDS = "runs";

const isSame = (one: string, other: string): boolean =>
  one === other || (existsSync(one) && existsSync(other) && realpathSync(one) === realpathSync(other));

const besides = (scenarioDir: string): string => join(dirname(scenarioDir), RECORDS);

/** In one directory of records, each suite would drop the other from the index. */
const recordsOfOthers = (scenarioDir: string, usualRecords: string): string =>
  isSame(besides(scenarioDir), usualRecords) ? join(scenarioDir, RECORDS) : besides(scenarioDir);

/** Where the parts of a suite are, whether or not they exist. */
export const suitePathsOf = (
  file: SuiteFile,
  { cwd = ".", dir, recordsDir }: SuiteChoice,
): ScenarioSuitePaths => {
  const usualDir = pathOf(file, "scenarioDir") ?? join(file.root, DEFAULT_SCENARIO_DIR);
  const usualRecords = pathOf(file, "recordsDir") ?? besides(usualDir);
  const scenarioDir = dir === undefined ? usualDir : resolve(cwd, dir);
  const ownRecords = isSame(scenarioDir, usualDir)
    ? usualRecords
    : recordsOfOthers(scenarioDir, usualRecords);
  return {
    root: file.root,
    scenarioDir,
    fixturesRoot: pathOf(file, "fixturesRoot") ?? file.root,
    recordsDir: recordsDir === undefined ? ownRecords : resolve(cwd, recordsDir),
    mirrorDir: pathOf(file, "mirrorDir"),
  };
};

/** Ends in prose: a full stop is added, which must not follow a command. */
const firstPage = (...dir: readonly string[]): string =>
  `Create it with a first page: ${sandduneCommand("scenario", "new", "my-scenario", ...dir)} – or name another one`;

const checkScenarioDir = (file: SuiteFile, scenarioDir: string, dir: string | undefined): void => {
  if (isDirectory(scenarioDir)) return;
  if (dir !== undefined && existsSync(scenarioDir)) {
    throw new ScenarioConfigError(
      scenarioDir,
      [{ problem: "it is not a directory" }],
      "Name the directory of the scenario pages",
    );
  }
  if (dir === undefined && file.settings.scenarioDir !== undefined) {
    throw settingError(file, "scenarioDir", `there is no directory ${scenarioDir}`, firstPage());
  }
  throw new ScenarioConfigError(
    scenarioDir,
    [{ problem: "there is no such directory, so there are no scenarios" }],
    dir === undefined ? firstPage() : `${firstPage(dir)}. One scenario is chosen by its id: --only=ID`,
  );
};

/** Checks that the parts of a suite exist, except for the records. */
export const checkSuitePaths = (file: SuiteFile, places: ScenarioSuitePaths, { dir }: SuiteChoice): void => {
  const check = (key: PathSetting, path: string, remedy: string): void => {
    if (!isDirectory(path)) throw settingError(file, key, `there is no directory ${path}`, remedy);
  };
  const { scenarioDir, fixturesRoot, mirrorDir, recordsDir } = places;
  checkScenarioDir(file, scenarioDir, dir);
  check("fixturesRoot", fixturesRoot, "Create it, or name another one");
  if (mirrorDir !== undefined) check("mirrorDir", mirrorDir, "Build its content, or name another one");
  if (existsSync(recordsDir)) {
    check("recordsDir", recordsDir, "It is not a directory. Name another one");
  }
};
