import { describe, expect, it } from "vitest";
import { dateOfEpoch, retryTimeIn } from "../../../src/agents/shared/retryTime.ts";

const NOW = new Date("2026-11-16T07:30:00.000Z");
const at = (text: string): string | undefined => retryTimeIn(text, NOW)?.toISOString();
const later = (ms: number): string => new Date(NOW.getTime() + ms).toISOString();

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

describe("the end of a rate limit", () => {
  it.each([
    ["rate limit exceeded: Rate limit reached for gpt-5.5. Please try again in 1.5s.", 1.5 * SECOND],
    ["Please try again in 11.054s.", 11_054],
    ["Please try again in 6m0s. Visit the site.", 6 * MINUTE],
    ["Please try again in 1m30.5s", 90.5 * SECOND],
    ["Please try again in 1h12m3s.", HOUR + 12 * MINUTE + 3 * SECOND],
    ["Please try again in 280ms.", 280],
    ["You exceeded your current quota. Please retry in 3.5s.\nSuggested retry after 3s.", 3.5 * SECOND],
    ["Retrying after 5147ms...", 5147],
    ["Try again in 5 minutes", 5 * MINUTE],
    ["try again in 2 hours and 10 minutes", 2 * HOUR + 10 * MINUTE],
    ["Wait for 30 seconds.", 30 * SECOND],
    ["retry in 1 day, 2 hours", 26 * HOUR],
    ["Try again in 0s", 0],
    ["429 within 24h window; retry after 3600", HOUR],
    ["retry-after: 20", 20 * SECOND],
  ])("is counted from now: %s", (text, ms) => {
    expect(at(text)).toBe(later(ms));
  });

  it.each([
    ["resets at 2026-11-16T09:00:00Z", "2026-11-16T09:00:00.000Z"],
    ["until 2026-11-16T09:00:00.250+02:00.", "2026-11-16T07:00:00.250Z"],
    ["Claude AI usage limit reached|1794823200", "2026-11-16T10:00:00.000Z"],
    ["resets_at: 1794823200", "2026-11-16T10:00:00.000Z"],
    ['{"reset":1794823200000}', undefined],
    ["reset=1794823200000", "2026-11-16T10:00:00.000Z"],
  ])("is the moment that is named: %s", (text, moment) => {
    expect(at(text)).toBe(moment);
  });

  // What is told to the minute is over when the minute is.
  it.each([
    ["You've hit your 5-hour limit · resets 8:44am (UTC)", "2026-11-16T08:45:00.000Z"],
    ["You've hit your 5-hour limit · resets 8pm (UTC)", "2026-11-16T20:01:00.000Z"],
    ["purchase more credits or try again at 8:13 AM.", "2026-11-16T08:14:00.000Z"],
    ["You've hit your weekly limit · resets Nov 20 at 7am (UTC)", "2026-11-20T07:01:00.000Z"],
    ["You've hit your weekly limit · resets Jan 2, 8:30am (UTC)", "2027-01-02T08:31:00.000Z"],
    // It has just ended: clocks differ.
    ["try again at 7:25 AM.", "2026-11-16T07:26:00.000Z"],
    ["resets Nov 16 at 7:25am (UTC)", "2026-11-16T07:26:00.000Z"],
    ["try again at 12:05 AM.", "2026-11-17T00:06:00.000Z"],
    ["try again at 12:05 PM.", "2026-11-16T12:06:00.000Z"],
    ["try again at 7:00 AM.", "2026-11-17T07:01:00.000Z"],
    ["try again at 23:59", "2026-11-17T00:00:00.000Z"],
    ["try again at Nov 18th, 2026 9:05 AM.", "2026-11-18T09:06:00.000Z"],
    ["try again at Dec 1st, 2026 12:30 PM.", "2026-12-01T12:31:00.000Z"],
  ])("is the next time that a clock shows it: %s", (text, moment) => {
    expect(at(text)).toBe(moment);
  });

  it.each([
    "",
    "Rate limit reached",
    "exceeded retry limit, last status: 429 Too Many Requests",
    "You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again later.",
    "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.",
    "try again in a few minutes",
    "resets 3pm (America/New_York)",
    "resets Nov 19 at 7am (Europe/Berlin)",
    "limited to 5 requests within 1 model",
    "Limit 30000, Used 25401, Requested 9000",
    "url: http://127.0.0.1:8080/v1/responses",
  ])("is not known: %j", (text) => {
    expect(at(text)).toBeUndefined();
  });

  it.each([
    "resets at 2026-99-99T99:99:99Z",
    "resets at 9999-12-31T23:59:59Z",
    "try again in 99999999999999999999999999 days",
    `try again in ${"9".repeat(400)}s`,
    "try again in 400 days",
    "reset at 9999999999999",
    "try again at 99:99",
    "try again at 25:00",
    "try again at Foo 99th, 2026 9:05 AM",
    "try again at Nov 18th, 9999 9:05 AM",
  ])("is ignored when it is absurd: %.60s", (text) => {
    expect(at(text)).toBeUndefined();
  });

  it.each(["2001-01-01T00:00Z", "1970-01-01T00:00Z"])("may be over long since: until %s", (date) => {
    expect(at(`429 rate limit until ${date}`)).toBe(new Date(date).toISOString());
  });

  it.each(["try again in -5s", "try again at -1:00", "in 1e9 s"])(
    "is at any rate a date when a number is odd: %s",
    (text) => {
      const date = retryTimeIn(text, NOW);
      expect(date === undefined || !Number.isNaN(date.getTime())).toBe(true);
    },
  );

  it("is found in a megabyte of noise", () => {
    expect(at(`${"in 1 ".repeat(200_000)} try again in 5s`)).toBe(later(5 * SECOND));
  });
});

describe("a time since 1970", () => {
  it.each([
    [1_794_823_200, "2026-11-16T10:00:00.000Z"],
    [1_794_823_200_000, "2026-11-16T10:00:00.000Z"],
  ])("is understood in seconds and in milliseconds: %d", (value, moment) => {
    expect(dateOfEpoch(value)?.toISOString()).toBe(moment);
  });

  it.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY])("is none: %d", (value) => {
    expect(dateOfEpoch(value)).toBeUndefined();
  });
});
