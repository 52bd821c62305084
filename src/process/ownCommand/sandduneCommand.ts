import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { PACKAGE_NAME } from "../../options/packageName.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { findProgram } from "../hostPrograms.ts";
import {
  packageManagerIn,
  packageManagers,
  readPackageJson,
  startingPackageManager,
} from "./packageManager.ts";

/** The directory and those around it, to the top of the checkout. */
const directoriesUpFrom = (directory: string): string[] =>
  existsSync(join(directory, ".git")) || dirname(directory) === directory
    ? [directory]
    : [directory, ...directoriesUpFrom(dirname(directory))];

/** Under Plug'n'Play there is no node_modules. */
const PROOFS = ["node_modules/.bin/sanddune", `node_modules/${PACKAGE_NAME}/package.json`, ".pnp.cjs"];

/** The file of a clone of sanddune that this process was started with: `node dist/cli.js`. */
const ownFile = (): string | undefined => {
  const file = process.argv[1] ?? "";
  if (basename(file) !== "cli.js" || /[/\\]node_modules[/\\]/.test(file)) return undefined;
  return readPackageJson(dirname(dirname(file))).name === PACKAGE_NAME ? file : undefined;
};

/** Yarn puts the programs of a project into a folder of its own while one of them runs. */
const isOnPath = (): boolean => {
  const found = findProgram("sanddune");
  return existsSync(found) && dirname(found) !== process.env["BERRY_BIN_FOLDER"];
};

/** Where the user most likely types. A working directory can be deleted while a process is in it. */
const currentDirectories = (): string[] => orUndefined(() => directoriesUpFrom(process.cwd())) ?? [];

/** The words that start `sanddune` in the shell of the user. */
const starter = (): string[] => {
  const file = ownFile();
  if (file !== undefined) return ["node", file];
  if (isOnPath()) return ["sanddune"];
  const directories = currentDirectories();
  const manager =
    directories.map(packageManagerIn).find((name) => name !== undefined) ?? startingPackageManager();
  const isInstalled = directories.some((directory) =>
    PROOFS.some((proof) => existsSync(join(directory, proof))),
  );
  return packageManagers[manager][isInstalled ? "installed" : "fetched"].split(" ");
};

/** A command of `sanddune` for the user to type, as words: see `sandduneCommand()`. */
export const sandduneWords = (...words: readonly string[]): string[] => [...starter(), ...words];

/**
 * A command of `sanddune` that works where the user is: most installations are local to a project, and a shell does not
 * find those by name. Every message that names a command gets it here.
 *
 * @example
 * sandduneCommand("logs", runId); // npx sanddune logs 20260101-120000-7f3a21
 */
export const sandduneCommand = (...words: readonly string[]): string =>
  sandduneWords(...words)
    .map(shellQuote)
    .join(" ");
