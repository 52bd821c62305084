import type { ScenarioRecord } from "./record.ts";

const stemOf = (startedAt: string): string => startedAt.replace(/[:.]/g, "-");

/** Executions of the same millisecond get a number after an underscore, which sorts after a full stop. */
export const recordName = (startedAt: string, number: number): string =>
  `${stemOf(startedAt)}${number === 1 ? "" : `_${String(number).padStart(3, "0")}`}.json`;

const isNameOf = (name: string, startedAt: string): boolean =>
  name.startsWith(stemOf(startedAt)) && /^(_\d{3,})?\.json$/.test(name.slice(stemOf(startedAt).length));

/** Allows for wrong clocks and time zones. */
const DAY_MS = 24 * 60 * 60_000;

/** Whether a record belongs to its name. A pull request must not add one that is the newest for ever. */
export const belongsThere = (
  { test_id, started_at }: Pick<ScenarioRecord, "test_id" | "started_at">,
  id: string,
  name: string,
): boolean => test_id === id && isNameOf(name, started_at) && Date.parse(started_at) < Date.now() + DAY_MS;

/** Whether a file name is that of a record: other files are left alone. */
export const looksLikeRecord = (name: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z(_\d{3,})?\.json$/.test(name);
