const SECOND = 1000;
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: SECOND,
  m: 60 * SECOND,
  h: 3600 * SECOND,
  d: 86_400 * SECOND,
};

const unitOf = (word: string): number => {
  const unit = word.toLowerCase();
  return UNITS[unit.startsWith("ms") || unit.startsWith("milli") ? "ms" : (unit[0] ?? "")] ?? 0;
};

const PART = String.raw`(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])`;
const DURATION = new RegExp(String.raw`\b(?:in|after|wait(?: for)?)[ :]+((?:${PART}[\s,]*(?:and )?)+)`, "i");

const durationIn = (text: string): number | undefined => {
  const found = DURATION.exec(text)?.[1];
  if (found === undefined) return undefined;
  let total = 0;
  for (const [, amount, unit] of found.matchAll(new RegExp(PART, "gi"))) {
    total += Number(amount) * unitOf(unit ?? "");
  }
  return total;
};

const LONGEST_WAIT = 366 * 86_400 * SECOND;

/** Ignores a time that is absurdly far away. */
export const ifSane = (date: Date | undefined, now: Date): Date | undefined =>
  date !== undefined && date.getTime() - now.getTime() < LONGEST_WAIT ? date : undefined;

/** A point in time since 1970, in seconds or milliseconds. */
export const dateOfEpoch = (value: number): Date | undefined =>
  value > 0 ? new Date(value < 1e11 ? value * SECOND : value) : undefined;

const ISO = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})/;
const EPOCH = /(?:\||reset\w*(?: at)?[ :=]+)(\d{10}(?:\d{3})?)\b/i;
const CLOCK = /\b(?:at|resets?)\s+(\d{1,2})(?::(\d{2}))?\s*([ap]m)?(?:\s*\(([^)]*)\))?/i;
const BARE_SECONDS = /\bretry[- ]after[: ]+(\d+)(?![\w.])/i;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DATED =
  /\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?(?: at)? (\d{1,2})(?::(\d{2}))?\s*([ap]m)?(?:\s*\(([^)]*)\))?/i;

const hourOf = (hours: string, half: string | undefined): number =>
  half === undefined ? Number(hours) : (Number(hours) % 12) + (/p/i.test(half) ? 12 : 0);

/** A time that has just passed does not mean the next day: clocks differ. */
const isOver = (date: Date, now: Date): boolean => date.getTime() < now.getTime() - 10 * 60 * SECOND;

/** Other time zones are not looked up: sandboxes use UTC. */
const isUtc = (zone: string | undefined): boolean => zone === undefined || /^(UTC|GMT|Z)$/i.test(zone);

const datedIn = (text: string, now: Date): Date | undefined => {
  const [, month, day, year, hours, minutes = "0", half, zone] = DATED.exec(text) ?? [];
  if (month === undefined || hours === undefined || !isUtc(zone)) return undefined;
  const monthIndex = MONTHS.indexOf(month.toLowerCase());
  // The time is given to the minute, which has to be over.
  const inYear = (which: number) =>
    new Date(Date.UTC(which, monthIndex, Number(day), hourOf(hours, half), Number(minutes) + 1));
  if (year !== undefined) return inYear(Number(year));
  const next = inYear(now.getUTCFullYear());
  return isOver(next, now) ? inYear(now.getUTCFullYear() + 1) : next;
};

/** The next time at which a clock shows this. The clock of a sandbox shows UTC. */
const clockIn = (text: string, now: Date): Date | undefined => {
  const [, hours, minutes, half, zone] = CLOCK.exec(text) ?? [];
  if (hours === undefined || (half === undefined && minutes === undefined) || !isUtc(zone)) return undefined;
  const hour = hourOf(hours, half);
  if (hour > 23) return undefined;
  const date = new Date(now);
  date.setUTCHours(hour, Number(minutes ?? 0) + 1, 0, 0);
  if (isOver(date, now)) date.setUTCDate(date.getUTCDate() + 1);
  return date;
};

const timeIn = (text: string, now: Date): Date | undefined => {
  const iso = ISO.exec(text)?.[0];
  if (iso !== undefined) return new Date(iso);
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch !== undefined) return dateOfEpoch(Number(epoch));
  const duration = durationIn(text);
  if (duration !== undefined) return new Date(now.getTime() + duration);
  const seconds = BARE_SECONDS.exec(text)?.[1];
  if (seconds !== undefined) return new Date(now.getTime() + Number(seconds) * SECOND);
  // A date with a time in another zone must not be read as a time of today.
  return DATED.test(text) ? datedIn(text, now) : clockIn(text, now);
};

/** When a rate limit ends, according to an agent's message. */
export const retryTimeIn = (text: string, now: Date): Date | undefined => ifSane(timeIn(text, now), now);
