import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isScenarioRecord } from "./isScenarioRecord.ts";
import type { ScenarioRecord } from "./record.ts";
import { belongsThere } from "./recordName.ts";

/** How many files are open at a time: a process has a limit. */
const AT_ONCE = 64;

/** The names of the records of a scenario, oldest first. */
export const recordNames = async (recordsDir: string, id: string): Promise<string[]> => {
  const names = await readdir(join(recordsDir, id)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(".json") && !name.startsWith(".")).sort();
};

const MAX_BYTES = 16 * 1024 * 1024;
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Any file may be among the records. Reading a pipe, or a link to a device, would never end. */
const readText = async (path: string): Promise<string> => {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error("it is not a regular file");
    if (status.size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
};

/** A record, or the reason why the file is not one. */
export const readRecord = async (
  recordsDir: string,
  id: string,
  name: string,
): Promise<ScenarioRecord | string> => {
  const path = join(recordsDir, id, name);
  try {
    const value: unknown = JSON.parse(await readText(path));
    if (isScenarioRecord(value) && belongsThere(value, id, name)) return value;
    return `${path}: it is not a record of ${id} that sanddune has written`;
  } catch (error) {
    return `${path}: it could not be read (${(error as Error).message})`;
  }
};

/** All records except `known`, oldest first for each scenario, and a message for each other file. */
export const readRecords = async (
  recordsDir: string,
  known: ReadonlySet<string> = new Set(),
): Promise<{ readonly records: readonly ScenarioRecord[]; readonly problems: readonly string[] }> => {
  const entries = await readdir(recordsDir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const ids = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const named = await Promise.all(
    ids.sort().map(async (id) => (await recordNames(recordsDir, id)).map((name) => ({ id, name }))),
  );
  const files = named.flat().filter(({ id, name }) => !known.has(join(recordsDir, id, name)));
  const read: (ScenarioRecord | string)[] = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE);
    read.push(...(await Promise.all(some.map(({ id, name }) => readRecord(recordsDir, id, name)))));
  }
  return {
    records: read.filter((each) => typeof each !== "string"),
    problems: read.filter((each) => typeof each === "string"),
  };
};
