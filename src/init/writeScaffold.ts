import { constants, copyFileSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AlreadyInitialisedError } from "../errors/commandErrors.ts";
import { PRIVATE_PARTS, SCENARIOS_FILE } from "../options/configDirectory.ts";
import { writeDraft } from "./draft.ts";
import type { Scaffold } from "./scaffold.ts";

/** The system's errors for an existing destination. */
const TAKEN = ["EEXIST", "ENOTEMPTY", "ENOTDIR"];

type Place = "free" | "used by runs";

/** Runs and scenarios create the config directory if it is missing; their files do not prevent a scaffold. */
const OF_OTHERS: readonly string[] = [...PRIVATE_PARTS, SCENARIOS_FILE];

/** Decides how a scaffold can be written. Throws an `AlreadyInitialisedError` if it cannot. */
export const checkPlace = (configDirectory: string): Place => {
  const status = lstatSync(configDirectory, { throwIfNoEntry: false });
  if (status === undefined) return "free";
  const names = status.isDirectory() ? readdirSync(configDirectory).sort() : [];
  const inTheWay = names.filter((name) => !OF_OTHERS.includes(name));
  const isUsedByRuns = inTheWay.length < names.length;
  if (isUsedByRuns && inTheWay.length === 0) return "used by runs";
  throw new AlreadyInitialisedError(configDirectory, inTheWay, isUsedByRuns);
};

/** The first file is the same in every scaffold: of two inits at once, only one can create it. */
const placeFiles = (from: string, to: string, names: readonly string[]): void => {
  const placed: string[] = [];
  try {
    for (const name of names) {
      copyFileSync(join(from, name), join(to, name), constants.COPYFILE_EXCL);
      placed.push(name);
    }
  } catch (error) {
    for (const name of placed) rmSync(join(to, name));
    throw error;
  }
};

/**
 * Writes a scaffold as a whole or not at all: its directory is renamed into place. If runs already keep files in the config
 * directory, which must not be moved, the scaffold's files are added one by one. Nothing is replaced.
 */
export const writeScaffold = (configDirectory: string, scaffold: Scaffold): void => {
  const found = checkPlace(configDirectory);
  using draft = writeDraft(configDirectory, scaffold);
  try {
    if (found === "free") renameSync(draft.directory, configDirectory);
    else placeFiles(draft.directory, configDirectory, Object.keys(scaffold));
  } catch (error) {
    const isTaken = TAKEN.includes((error as NodeJS.ErrnoException).code ?? "");
    // Another process was faster; its files decide the error.
    if (isTaken) checkPlace(configDirectory);
    throw error;
  }
};
