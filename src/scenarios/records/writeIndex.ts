import { basename, join } from "node:path";
import { replaceFile } from "../../tools/files/wholeFile.ts";
import { historyOf } from "../report/model.ts";
import type { Runnable } from "../spec.ts";
import { readRecord, recordNames } from "./readRecords.ts";
import { INDEX_SCHEMA, type IndexEntry, type RunsIndex, type ScenarioRecord } from "./record.ts";
import { json, makeDirectory, withRecordErrors } from "./writeRecords.ts";

/** A scenario that has a page. */
export interface IndexedScenario {
  readonly id: string;
  /** `undefined` if the page has mistakes. */
  readonly runnable: Runnable | undefined;
}

interface NamedRecord {
  readonly name: string;
  readonly record: ScenarioRecord;
}

/** Whether all records of the tool's newest suite run were found; `next` may belong to another one. */
const hasToolSuiteRun = (found: readonly NamedRecord[], next?: ScenarioRecord): boolean => {
  const newest = found.find(({ record }) => record.runner.kind === "cli")?.record;
  if (newest === undefined) return false;
  return newest.repeat === undefined || (next !== undefined && next.repeat?.go !== newest.repeat.go);
};

/** The deciding records, newest first. If only the tool executes it: those of its newest suite run. */
const decidingRecords = async (
  recordsDir: string,
  { id, runnable }: IndexedScenario,
): Promise<readonly NamedRecord[]> => {
  const isOfTool = runnable === "cli";
  const found: NamedRecord[] = [];
  for (const name of (await recordNames(recordsDir, id)).reverse()) {
    if (isOfTool && hasToolSuiteRun(found)) break;
    const record = await readRecord(recordsDir, id, name);
    if (typeof record === "string") continue;
    if (isOfTool && hasToolSuiteRun(found, record)) break;
    found.push({ name, record });
  }
  return found;
};

/** The record of a scenario in the index: the newest one with the result that the scenario has in reports. */
const standingFor = async (
  recordsDir: string,
  scenario: IndexedScenario,
): Promise<NamedRecord | undefined> => {
  const { id, runnable } = scenario;
  const found = await decidingRecords(recordsDir, scenario);
  const { runners, result } = historyOf(
    { id, title: id, ...(runnable && { runnable }) },
    found.map(({ record }) => record),
  );
  const latest = new Set(runners.flatMap((runner) => runner.latest));
  return found.find(({ record }) => record.result === result && latest.has(record));
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

/** Rewrites `index.json` from the records of the scenarios that exist. */
export const writeIndex = async (
  recordsDir: string,
  scenarios: readonly IndexedScenario[],
): Promise<void> => {
  await withRecordErrors(recordsDir, () => makeDirectory(recordsDir));
  const sorted = scenarios.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const found = await Promise.all(sorted.map((scenario) => standingFor(recordsDir, scenario)));
  const standing = found.filter((each) => each !== undefined);
  const index: RunsIndex = {
    schema: INDEX_SCHEMA,
    generated_at: new Date().toISOString(),
    latest: Object.fromEntries(standing.map((each) => [each.record.test_id, indexEntry(recordsDir, each)])),
  };
  const path = join(recordsDir, "index.json");
  await withRecordErrors(path, () => replaceFile(path, json(index)));
};
