import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { processExists } from "../process/kill/processExists.ts";
import type { Scaffold } from "./scaffold.ts";

/** A scaffold that is being written, beside its destination. */
export interface Draft extends Disposable {
  /** Holds the files of the scaffold. */
  readonly directory: string;
}

/** The part of a draft's name that identifies its process, after the name of the config directory. */
const SUFFIX = /^\.(\d+)\.[0-9a-f]{12}$/;

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });

/** Removes the draft of a process that was killed while it wrote. */
const removeDeadDrafts = (configDirectory: string): void => {
  const parent = dirname(configDirectory);
  const name = basename(configDirectory);
  for (const entry of readdirSync(parent, { withFileTypes: true })) {
    const pid = entry.name.startsWith(name) && SUFFIX.exec(entry.name.slice(name.length))?.[1];
    if (entry.isDirectory() && pid && !processExists(Number(pid))) remove(join(parent, entry.name));
  }
};

/** Writes a scaffold to a hidden directory that git ignores. Disposing removes what is left of it. */
export const writeDraft = (configDirectory: string, scaffold: Scaffold): Draft => {
  removeDeadDrafts(configDirectory);
  const path = `${configDirectory}.${process.pid}.${randomBytes(6).toString("hex")}`;
  const directory = join(path, "scaffold");
  try {
    mkdirSync(path);
    writeFileSync(join(path, ".gitignore"), "*\n");
    mkdirSync(directory);
    for (const [name, text] of Object.entries(scaffold)) writeFileSync(join(directory, name), text);
  } catch (error) {
    remove(path);
    throw error;
  }
  return { directory, [Symbol.dispose]: () => remove(path) };
};
