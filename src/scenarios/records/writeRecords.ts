import { lstat, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ScenarioRecordError } from "../../errors.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { checkDirectory } from "../../tools/files/outputPlace.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { createFile } from "../../tools/files/wholeFile.ts";
import { recordNames } from "./readRecords.ts";
import type { ScenarioRecord } from "./record.ts";
import { looksLikeRecord, recordName } from "./recordName.ts";

/** Turns an error of the system into a `ScenarioRecordError` with the path. */
export const withRecordErrors = async <A>(path: string, work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScenarioRecordError) throw error;
    throw new ScenarioRecordError(path, reasonOf(error), { cause: error });
  }
};

export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Refuses symbolic links: a link in a checkout may lead anywhere. */
const refuseOther = async (path: string): Promise<void> => {
  const status = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (status === undefined || status.isDirectory()) return;
  throw new ScenarioRecordError(
    path,
    status.isSymbolicLink()
      ? "it is a symbolic link, and records are not written through one"
      : "it is not a directory",
  );
};

export const makeDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await refuseOther(path);
};

/** Checks, without changing anything, that records can be written to a directory. Throws a `ScenarioRecordError`. */
export const checkRecordsDirectory = (directory: string): Promise<void> =>
  withRecordErrors(directory, async () => {
    await refuseOther(directory);
    await checkDirectory(directory);
  });

/** Writes a record under the first file name that is free. */
const putRecord = async (directory: string, record: ScenarioRecord): Promise<string> => {
  for (let number = 1; ; number++) {
    const path = join(directory, recordName(record.started_at, number));
    try {
      await createFile(path, json(record));
      return path;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
  }
};

/** Adds a record to its scenario's directory; resolves with the record's path. */
export const addRecord = (recordsDir: string, record: ScenarioRecord): Promise<string> => {
  const directory = join(recordsDir, record.test_id);
  return withRecordErrors(directory, async () => {
    await makeDirectory(recordsDir);
    await makeDirectory(directory);
    return putRecord(directory, record);
  });
};

/**
 * Removes all but the newest `keep` records of a scenario. Records that began at `since` or later always stay: they
 * belong to this suite run, or to another one at the same time.
 */
export const pruneRecords = async (
  recordsDir: string,
  id: string,
  { keep, since }: { readonly keep: number; readonly since: Date },
): Promise<void> => {
  await withRecordErrors(join(recordsDir, id), async () => {
    const names = (await recordNames(recordsDir, id)).filter(looksLikeRecord);
    const first = recordName(since.toISOString(), 1);
    const old = names.slice(0, Math.max(0, names.length - keep)).filter((name) => name < first);
    await Promise.all(old.map((name) => rm(join(recordsDir, id, name), { force: true })));
  });
};
