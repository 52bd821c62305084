import { dirname } from "node:path";
import { TextProblem } from "../../tools/json/textProblem.ts";
import type { ScenarioSuite } from "./suite.ts";
import { pathOf, readSuiteFile, type SuiteChoice, type SuiteFile, settingError } from "./suiteFile.ts";
import { checkSuitePaths, suitePathsOf } from "./suitePaths.ts";
import { absoluteCliCommand, cliCommandProblem } from "./suiteTool.ts";
import { readVersion } from "./suiteVersion.ts";

const versionOf = (file: SuiteFile): string | undefined => {
  const versionFile = pathOf(file, "versionFile");
  try {
    return versionFile === undefined ? undefined : readVersion(versionFile);
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error;
    throw settingError(
      file,
      "versionFile",
      `${versionFile}: ${error.problem}`,
      "Build that file, or name another one",
    );
  }
};

/** The command line of the suite's tool, with absolute paths. */
export const toolOf = (file: SuiteFile): readonly string[] | undefined => {
  const { cliCommand } = file.settings;
  if (cliCommand === undefined) return undefined;
  const problem = cliCommandProblem(cliCommand);
  if (problem !== undefined) {
    throw settingError(
      file,
      "cliCommand",
      problem,
      "Write it as in: node bin/tool.mjs {subcommand} {...flags}",
    );
  }
  return absoluteCliCommand(cliCommand, [dirname(file.path), file.root]);
};

/** Reads a suite, and checks that its parts exist. Throws a `ScenarioConfigError`. */
export const readSuite = async (choice: SuiteChoice = {}): Promise<ScenarioSuite> => {
  const file = await readSuiteFile(choice);
  const { productName, siteUrl, prompts } = file.settings;
  const places = suitePathsOf(file, choice);
  checkSuitePaths(file, places, choice);
  return { ...places, version: versionOf(file), cliCommand: toolOf(file), productName, siteUrl, prompts };
};
