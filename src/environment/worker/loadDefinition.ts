import { existsSync } from "node:fs";
import { createRequire, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_NAME } from "../../options/packageName.ts";
import { runProcess } from "../../process/runProcess.ts";
import { succeeds } from "../../tools/orUndefined.ts";
import { definitionProblem } from "../definition/checkDefinition.ts";
import type { EnvironmentDefinition } from "../definition/definition.ts";
import { PLAIN_LIST } from "../folder/filesOption.ts";
import { readEnvironment } from "../folder/readEnvironment.ts";
import provideModule from "./programs/provideModule.ts?text";

const MAX_STACK_LINES = 10;
const CHECK_TIMEOUT_MS = 10_000;

const SPECIFIER = `${PACKAGE_NAME}/environment`;

/** In the directory of the bundled test tool. */
const OWN_MODULE = join(import.meta.dirname, "index.js");

const isInstalledFor = (file: string): boolean => succeeds(() => createRequire(file).resolve(SPECIFIER));

/** Lets a definition import sanddune where it is not installed: a folder need not be part of a project. */
const provideOwnModule = (file: string): void => {
  if (isInstalledFor(file) || !existsSync(OWN_MODULE)) return;
  const data = { specifier: SPECIFIER, url: pathToFileURL(OWN_MODULE).href };
  register(`data:text/javascript,${encodeURIComponent(provideModule)}`, { data });
};

const requireTypeScript = (definitionFile: string): void => {
  const isTypeScript = /\.m?ts$/.test(definitionFile);
  if (!isTypeScript || Reflect.get(process.features, "typescript")) return;
  throw new Error(
    `${definitionFile} needs Node.js 22.18 or newer where the tests run, and this is ${process.version}. Install a newer version, or write environment.mjs.`,
  );
};

const importFile = (file: string): Promise<{ readonly default?: unknown }> =>
  import(pathToFileURL(file).href);

/** Node shows the position of a syntax error only when it runs the file itself. */
const checkSyntax = async (file: string): Promise<string | undefined> => {
  const { stderr } = await runProcess({
    program: process.execPath,
    args: ["--check", file],
    timeoutMs: CHECK_TIMEOUT_MS,
  });
  return stderr.includes("SyntaxError") ? stderr : undefined;
};

/** A thrown value with its stack, without Node's internal frames. */
const describeFailure = async (file: string, reason: unknown): Promise<string> => {
  if (!(reason instanceof Error)) return String(reason);
  const found = reason instanceof SyntaxError ? await checkSyntax(file).catch(() => undefined) : undefined;
  return (found ?? reason.stack ?? reason.message)
    .split("\n")
    .filter((line) => !line.includes("node:internal/"))
    .slice(0, MAX_STACK_LINES)
    .join("\n");
};

const sameFiles = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === other.length && one.every((file, index) => file === other[index]);

/** The definition of the environment in a folder. Throws an `Error` that says what is wrong with it. */
export const loadDefinition = async (directory: string): Promise<EnvironmentDefinition> => {
  const { definitionFile, json, selected } = readEnvironment(directory);
  if (json !== undefined) {
    if (json.type === "suites") return json.definition;
    throw new Error(`${definitionFile} describes a server, which runs its tests itself.`);
  }
  requireTypeScript(definitionFile);
  const file = join(directory, definitionFile);
  provideOwnModule(file);
  const { default: definition } = await importFile(file).catch(async (reason) => {
    throw new Error(`${definitionFile} does not load: ${await describeFailure(file, reason)}`);
  });
  if (definition === undefined)
    throw new Error(
      `${definitionFile} has no default export. Write: export default defineEnvironment({ tests: {…} })`,
    );
  const problem = definitionProblem(definition);
  if (problem !== undefined) throw new Error(`The default export of ${definitionFile} ${problem}.`);
  const { files } = definition as EnvironmentDefinition;
  if (!sameFiles(files, selected)) throw new Error(`${definitionFile}: ${PLAIN_LIST}.`);
  return definition as EnvironmentDefinition;
};
