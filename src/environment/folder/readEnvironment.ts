import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { EnvironmentError } from "../../errors.ts";
import { type JsonEnvironment, readEnvironmentJson } from "./environmentJson.ts";
import { readFilesOption } from "./filesOption.ts";

/** What the folder of an environment says about it. No code of it was run. */
export interface FoundEnvironment {
  /** The real path of its folder. */
  readonly directory: string;
  /** `environment.ts`, for one. */
  readonly definitionFile: string;
  /** `files` of the definition. */
  readonly selected: readonly string[] | undefined;
  /** The content of `environment.json`; `undefined` for a module. */
  readonly json: JsonEnvironment | undefined;
}

export const DEFINITION_FILES = [
  "environment.ts",
  "environment.mts",
  "environment.js",
  "environment.mjs",
  "environment.json",
];

const MAX_DEFINITION_BYTES = 1024 * 1024;

const HINT = `It needs one of ${DEFINITION_FILES.join(", ")}, with: export default defineEnvironment({ tests: {…} })`;

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem =
      code === "ENOENT" ? "there is no such folder" : code === "ENOTDIR" ? "it is not a folder" : message;
    throw new EnvironmentError(directory, problem, "Pass the folder that has its definition.", { cause });
  }
};

/** The name of the definition among the names in a folder. */
export const chooseDefinition = (directory: string, names: readonly string[]): string => {
  const [found, second] = DEFINITION_FILES.filter((name) => names.includes(name));
  if (found === undefined) throw new EnvironmentError(directory, "it has no definition", HINT);
  if (second !== undefined)
    throw new EnvironmentError(directory, `it has both ${found} and ${second}`, "Remove one of them.");
  return found;
};

/** Reads the text of a definition without running it: an agent may have written it. */
export const readDefinition = (
  directory: string,
  definitionFile: string,
  read: (file: string) => string,
): FoundEnvironment => {
  const file = join(directory, definitionFile);
  try {
    const text = read(file);
    const json = definitionFile.endsWith(".json") ? readEnvironmentJson(text) : undefined;
    const selected = json === undefined ? readFilesOption(text) : json.files;
    return { directory, definitionFile, selected, json };
  } catch (cause) {
    const { message } = cause as Error;
    throw new EnvironmentError(file, `it ${message}`, "", { cause });
  }
};

const readText = (file: string): string => {
  const status = statSync(file);
  // Reading a pipe could block.
  if (!status.isFile()) throw new Error("is not a file");
  if (status.size > MAX_DEFINITION_BYTES) throw new Error(`has more than ${MAX_DEFINITION_BYTES} bytes`);
  return readFileSync(file, "utf8");
};

/** Reads an environment without running any code of it. */
export const readEnvironment = (path: string): FoundEnvironment => {
  const definitionFile = chooseDefinition(path, namesIn(path));
  return readDefinition(realpathSync(path), definitionFile, readText);
};
