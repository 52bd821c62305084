import { constants, copyFileSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { AlreadyInitialisedError } from "../errors/commandErrors.ts";
import { PRIVATE_PARTS, SCENARIOS_FILE } from "../options/configDirectory.ts";
import { writeDraft } from "./draft.ts";
import type { Scaffold } from "./scaffold.ts";

/** What the system says when something else is in the place already. */
const TAKEN = ["EEXIST", "ENOTEMPTY", "ENOTDIR"];

type Place = "free" | "used by runs";

/** Runs and scenarios make the config directory if there is none; what they keep there is not in the way of a scaffold. */
const OF_OTHERS: readonly string[] = [...PRIVATE_PARTS, SCENARIOS_FILE];

/** Says how a scaffold can get there. Throws an `AlreadyInitialisedError` if it cannot. */
export const checkPlace = (configDirectory: string): Place => {
  const status = lstatSync(configDirectory, { throwIfNoEntry: false });
  if (status === undefined) return "free";
  const names = status.isDirectory() ? readdirSync(configDirectory).sort() : [];
  const inTheWay = names.filter((name) => !OF_OTHERS.includes(name));
  const isUsedByRuns = inTheWay.length < names.length;
  if (isUsedByRuns && inTheWay.length === 0) return "used by runs";
  throw new AlreadyInitialisedError(configDirectory, inTheWay, isUsedByRuns);
};

/** The first file is the same in every scaffold: of two inits at once, one has it, and the other one ends here. */
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
 * Writes a scaffold, all of it or nothing: it becomes visible when its directory gets its name. Not so beside what runs
 * keep in the config directory, which nobody may move; there one file after the other is added. Nothing is replaced.
 */
export const writeScaffold = (configDirectory: string, scaffold: Scaffold): void => {
  const found = checkPlace(configDirectory);
  using draft = writeDraft(configDirectory, scaffold);
  try {
    if (found === "free") renameSync(draft.directory, configDirectory);
    else placeFiles(draft.directory, configDirectory, Object.keys(scaffold));
  } catch (error) {
    const isTaken = TAKEN.includes((error as NodeJS.ErrnoException).code ?? "");
    // Somebody else was faster. What is there now says what is in the way.
    if (isTaken) checkPlace(configDirectory);
    throw error;
  }
};
