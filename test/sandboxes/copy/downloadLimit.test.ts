import { statfsSync } from "node:fs";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { limitDownload } from "../../../src/sandboxes/copy/downloadLimit.ts";
import { boundedText } from "../../../src/sandboxes/services/boundedText.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

afterEach(() => {
  vi.useRealTimers();
});

const arrivalIn = (directory: string) => {
  vi.useFakeTimers();
  const arrival = limitDownload(directory);
  onTestFinished(() => arrival.end());
  return arrival;
};

it("what hardly brings anything for a minute is given up", () => {
  const { signal, count } = arrivalIn(temporaryDirectory());
  count(64 * 1024);
  vi.advanceTimersByTime(60_000);
  expect(signal.aborted).toBe(false);
  count(1);
  vi.advanceTimersByTime(60_000);
  expect(signal.reason).toEqual(new Error("it sent almost nothing in 60000 ms"));
});

it("a long download has to be large: a trickle does not block the caller", () => {
  const { signal, count } = arrivalIn(temporaryDirectory());
  for (const minute of [1, 2, 3]) {
    count(minute * 64 * 1024);
    vi.advanceTimersByTime(60_000);
    expect(signal.aborted).toBe(false);
  }
  count(3 * 64 * 1024);
  vi.advanceTimersByTime(60_000);
  expect(signal.aborted).toBe(true);
});

it("a finished download is no longer watched", () => {
  const { signal, end } = arrivalIn(temporaryDirectory());
  end();
  vi.advanceTimersByTime(600_000);
  expect(signal.aborted).toBe(false);
});

it("more than the disk can hold is not taken", () => {
  const directory = temporaryDirectory();
  const { bavail, bsize } = statfsSync(directory);
  const { count } = arrivalIn(directory);
  count(1024);
  expect(() => count(bavail * bsize)).toThrow(/larger than the free disk space/);
});

it("a small file of a sandbox that has become a large one is not read to its end", async () => {
  let pieces = 0;
  let isEnded = false;
  async function* endless() {
    try {
      for (;;) {
        pieces++;
        yield Buffer.alloc(1024);
      }
    } finally {
      isEnded = true;
    }
  }
  await expect(boundedText(endless(), 4096)).rejects.toThrow("more than 4096 bytes");
  expect({ pieces, isEnded }).toEqual({ pieces: 5, isEnded: true });
  expect(
    await boundedText(
      (async function* () {
        yield "a";
        yield Buffer.from("b");
      })(),
      4096,
    ),
  ).toBe("ab");
});
