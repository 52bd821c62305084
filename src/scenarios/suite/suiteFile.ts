import { existsSync, lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import suiteSchema from "../../../schemas/scenarios.schema.json" with { type: "json" };
import { ConfigDirectoryError, ScenarioConfigError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME, SCENARIOS_FILE } from "../../options/configDirectory.ts";
import { entryExists, isDirectory } from "../../tools/files/entries.ts";
import { type JsonNode, parseJsonText } from "../../tools/json/jsonText.ts";
import { readText } from "../../tools/json/readText.ts";
import { TextProblem } from "../../tools/json/textProblem.ts";
import { validate } from "../../tools/json/validate.ts";

/** Where to look for a suite. */
export interface SuiteChoice {
  /** By default the current directory. */
  readonly cwd?: string;
  /** The directory of the scenario pages, relative to `cwd`, instead of the one in the config file. */
  readonly dir?: string;
  /** The directory of the records, relative to `cwd`, instead of the one in the config file. */
  readonly recordsDir?: string;
  /** The config file, relative to `cwd`. */
  readonly config?: string;
}

/** The settings in the config file of a suite. */
export interface SuiteSettings {
  readonly scenarioDir?: string;
  readonly fixturesRoot?: string;
  readonly mirrorDir?: string;
  readonly recordsDir?: string;
  readonly versionFile?: string;
  readonly cliCommand?: readonly string[];
  readonly productName?: string;
  readonly siteUrl?: string;
  readonly prompts?: Readonly<Record<string, string>>;
}

/** The config file of a suite, whether or not it exists. */
export interface SuiteFile {
  readonly root: string;
  readonly path: string;
  readonly isThere: boolean;
  readonly settings: SuiteSettings;
  /** The line of a setting. */
  lineOf(key: keyof SuiteSettings): number | undefined;
}

export type PathSetting = "scenarioDir" | "fixturesRoot" | "mirrorDir" | "recordsDir" | "versionFile";

/** The absolute path of a setting. */
export const pathOf = ({ path, settings }: SuiteFile, key: PathSetting): string | undefined => {
  const value = settings[key];
  return value === undefined ? undefined : resolve(dirname(path), value);
};

export const settingError = (
  file: SuiteFile,
  key: keyof SuiteSettings,
  problem: string,
  remedy: string,
): ScenarioConfigError =>
  new ScenarioConfigError(file.path, [{ line: file.lineOf(key), problem: `${key}: ${problem}` }], remedy);

/**
 * The top of the checkout that contains a directory; linked worktrees count, too. A suite is tracked with the code
 * that it tests. git is not started, because that would take longer than everything else here.
 */
const checkoutOf = (directory: string, start = directory): string | undefined => {
  // Some people's home directory is a checkout. It is a suite only if it is the starting directory.
  const isMeant = directory === start || directory !== homedir();
  if (isMeant && existsSync(join(directory, ".git"))) return directory;
  const parent = dirname(directory);
  return parent === directory ? undefined : checkoutOf(parent, start);
};

/** Follows links, so that the real checkout is found. */
const realDirectory = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

const locateNamed = (named: string): { root: string; path: string } => {
  const directory = realDirectory(dirname(named));
  const besideConfig = basename(directory) === CONFIG_DIRECTORY_NAME ? dirname(directory) : directory;
  return { root: checkoutOf(directory) ?? besideConfig, path: join(directory, basename(named)) };
};

const locate = (cwd: string, config: string | undefined): { root: string; path: string } => {
  if (config !== undefined) return locateNamed(resolve(cwd, config));
  const start = realDirectory(cwd);
  const root = checkoutOf(start) ?? start;
  const directory = join(root, CONFIG_DIRECTORY_NAME);
  // A link that an agent has committed must not lead elsewhere.
  if (lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new ConfigDirectoryError(directory);
  }
  return { root, path: join(directory, SCENARIOS_FILE) };
};

const REMEDY = "Fix the file, or name another one with --config";

const parse = (path: string): JsonNode => {
  try {
    const { node, problems } = parseJsonText(readText(path));
    const all = [...problems, ...validate(node, suiteSchema)];
    if (all.length > 0) throw new ScenarioConfigError(path, all, REMEDY);
    return node;
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error;
    const { line, problem } = error;
    throw new ScenarioConfigError(path, [{ line, problem }], REMEDY, { cause: error });
  }
};

/** Finds and reads the config file of a suite: `config`, or `.sanddune/scenarios.json`. */
export const readSuiteFile = async ({ cwd = ".", config }: SuiteChoice): Promise<SuiteFile> => {
  const start = resolve(cwd);
  if (!isDirectory(start)) {
    throw new ScenarioConfigError(
      start,
      [{ problem: "there is no such directory" }],
      "Name another one with --cwd",
    );
  }
  const { root, path } = locate(start, config);
  const isThere = entryExists(path);
  if (!isThere && config !== undefined) {
    throw new ScenarioConfigError(
      path,
      [{ problem: "there is no such file" }],
      "Name another one with --config",
    );
  }
  const node = isThere ? parse(path) : undefined;
  return {
    root,
    path,
    isThere,
    settings: (node?.value ?? {}) as SuiteSettings,
    lineOf: (key) => node?.members?.get(key)?.line,
  };
};
