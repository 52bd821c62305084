import { lstat, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { ScenarioRecordError } from "../../commandErrors.ts";
import { reasonOf } from "../project/reasonOf.ts";
import { INDEX_SCHEMA, type IndexEntry, type RunRecord, type RunsIndex } from "../record.ts";
import { worstOf } from "../report/worstOf.ts";
import { readRecord, recordNames } from "./readRecords.ts";
import { looksLikeRecord, recordName } from "./recordName.ts";
import { createFile, replaceFile } from "./writeFileWhole.ts";

/** What the system refuses is told with its place and in words. */
const writing = async <A>(path: string, work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ScenarioRecordError) throw error;
    throw new ScenarioRecordError(path, reasonOf(error), { cause: error });
  }
};

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const makeDirectory = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  // A link in a checkout may lead anywhere.
  const status = await lstat(path);
  if (!status.isDirectory()) throw new ScenarioRecordError(path, "it is not a directory");
};

/** Puts a record beside the others of its scenario, under the first name that is free. */
const putRecord = async (directory: string, record: RunRecord): Promise<string> => {
  for (let number = 1; ; number++) {
    const path = join(directory, recordName(record.started_at, number));
    try {
      await createFile(path, json(record));
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
};

/** Adds a record to those of its scenario; resolves with its path. */
export const addRecord = (recordsDir: string, record: RunRecord): Promise<string> => {
  const directory = join(recordsDir, record.test_id);
  return writing(directory, async () => {
    await makeDirectory(recordsDir);
    await makeDirectory(directory);
    return putRecord(directory, record);
  });
};

/** Removes all but the newest `keep` records of a scenario. Those that were written just now stay in any case. */
export const pruneRecords = async (
  recordsDir: string,
  id: string,
  { keep, written }: { readonly keep: number; readonly written: ReadonlySet<string> },
): Promise<void> => {
  await writing(join(recordsDir, id), async () => {
    const names = (await recordNames(recordsDir, id)).filter(
      (name) => looksLikeRecord(name) && !written.has(name),
    );
    const old = names.slice(0, Math.max(0, names.length + written.size - keep));
    await Promise.all(old.map((name) => rm(join(recordsDir, id, name), { force: true })));
  });
};

interface NamedRecord {
  readonly name: string;
  readonly record: RunRecord;
}

/** The newest record that can be read, with those that were made in the same go; newest first. */
const newestGo = async (recordsDir: string, id: string): Promise<readonly NamedRecord[]> => {
  const found: NamedRecord[] = [];
  for (const name of (await recordNames(recordsDir, id)).reverse()) {
    const record = await readRecord(recordsDir, id, name);
    if (typeof record === "string") continue;
    const go = record.repeat?.go;
    if (found[0] !== undefined && found[0].record.repeat?.go !== go) break;
    found.push({ name, record });
    if (go === undefined) break;
  }
  return found;
};

/** Of executions that were repeated in one go, the worst stands for all of them. */
const newestOf = async (recordsDir: string, id: string): Promise<NamedRecord | undefined> => {
  const found = await newestGo(recordsDir, id);
  const worst = worstOf(found.map(({ record }) => record.result));
  return found.find(({ record }) => record.result === worst);
};

const indexEntry = (recordsDir: string, { name, record }: NamedRecord): IndexEntry => ({
  started_at: record.started_at,
  manifest_version: record.manifest_version,
  result: record.result,
  runner_kind: record.runner.kind,
  runner_provider: record.runner.provider,
  duration_ms: record.duration_ms,
  record_path: `${basename(recordsDir)}/${record.test_id}/${name}`,
});

/** Writes `index.json` anew, from the records of the scenarios that exist. */
export const writeIndex = async (recordsDir: string, ids: readonly string[]): Promise<void> => {
  await writing(recordsDir, () => makeDirectory(recordsDir));
  const found = await Promise.all([...ids].sort().map((id) => newestOf(recordsDir, id)));
  const newest = found.filter((each) => each !== undefined);
  const index: RunsIndex = {
    schema: INDEX_SCHEMA,
    generated_at: new Date().toISOString(),
    latest: Object.fromEntries(newest.map((each) => [each.record.test_id, indexEntry(recordsDir, each)])),
  };
  const path = join(recordsDir, "index.json");
  await writing(path, () => replaceFile(path, json(index)));
};
