import type { ScenarioRecord } from "./record.ts";

const stemOf = (startedAt: string): string => startedAt.replace(/[:.]/g, "-");

/**
 * What a record is called that began then. Executions may begin in the same millisecond: they are told apart by a
 * number, after an underscore, which comes after a full stop in the order of names.
 */
export const recordName = (startedAt: string, number: number): string =>
  `${stemOf(startedAt)}${number === 1 ? "" : `_${String(number).padStart(3, "0")}`}.json`;

const isNameOf = (name: string, startedAt: string): boolean =>
  name.startsWith(stemOf(startedAt)) && /^(_\d{3,})?\.json$/.test(name.slice(stemOf(startedAt).length));

/** As far as clocks go wrong, and time zones are mixed up. */
const DAY_MS = 24 * 60 * 60_000;

/**
 * Whether a record can be what a file of that name among the records of that scenario holds. One that would be the newest
 * for ever must not come with a pull request.
 */
export const belongsThere = (
  { test_id, started_at }: Pick<ScenarioRecord, "test_id" | "started_at">,
  id: string,
  name: string,
): boolean => test_id === id && isNameOf(name, started_at) && Date.parse(started_at) < Date.now() + DAY_MS;

/** Whether that is the name of a record: everything else is somebody else's file. */
export const looksLikeRecord = (name: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z(_\d{3,})?\.json$/.test(name);
