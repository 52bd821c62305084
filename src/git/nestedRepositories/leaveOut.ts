import { rmSync } from "node:fs";
import { dirname, relative } from "node:path";
import { asText, fromText } from "../output.ts";
import { atEntry } from "./checkoutEntry.ts";
import { kindOf, type NestedRepositories } from "./findNestedRepositories.ts";

/**
 * Removes the `.git` of the user's nested repositories from a copy of a checkout, whose agent may have replaced any of them
 * meanwhile. Returns the directories that had one. An entry that cannot be removed stays, to be disarmed as the agent's.
 */
export const leaveOutRepositories = (
  nested: NestedRepositories,
  checkoutPath: string,
  copyPath: string,
): readonly string[] =>
  [...nested.keys()].flatMap((path) => {
    if (kindOf(path) !== "repository") return [];
    const inside = relative(fromText(checkoutPath), path);
    try {
      atEntry(copyPath, inside, (directory, name) => rmSync(directory.entry(name), { recursive: true }));
      return [asText(dirname(inside))];
    } catch {
      return [];
    }
  });
