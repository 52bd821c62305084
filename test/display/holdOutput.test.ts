import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { printNotice } from "../../src/display/notice.ts";
import { holdScreen, screenOf } from "../../src/display/screen.ts";
import { whenFree } from "../../src/display/terminal/holdOutput.ts";

const FRAME_MS = 100;

/** Standard output as a terminal, and what it gets. */
const standardOutput = () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  let written = "";
  stream.on("data", (chunk) => {
    written += chunk;
  });
  vi.spyOn(process, "stdout", "get").mockReturnValue(stream as unknown as typeof process.stdout);
  return {
    screen: screenOf(process.stdout),
    /** What was written since the last time. */
    taken: () => {
      const taken = written;
      written = "";
      return taken;
    },
  };
};

/** Whatever a test forgets must not keep the others from printing. */
const hold = (): (() => void) => {
  const release = holdScreen();
  onTestFinished(release);
  return release;
};

const withoutEscapes = (text: string) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");

beforeEach(() => {
  vi.stubEnv("NO_COLOR", undefined);
  vi.stubEnv("TERM", "xterm-256color");
  vi.useFakeTimers();
  return () => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  };
});

describe("a screen that is left to another program", () => {
  it("gets nothing until it is given back, and then everything, in order", () => {
    const { screen, taken } = standardOutput();
    const release = hold();
    taken();
    screen.print(["one"]);
    screen.print(["two", "three"]);
    expect(taken()).toBe("");
    release();
    expect(taken()).toBe("one\ntwo\nthree\n");
  });

  it("gets no status line either, not even one that was there before", () => {
    const { screen, taken } = standardOutput();
    const status = { text: () => "working" };
    screen.show(status);
    expect(withoutEscapes(taken())).toMatch(/^\S working$/);
    const release = hold();
    expect(taken()).toBe("\r\u001b[2K");
    vi.advanceTimersByTime(10 * FRAME_MS);
    screen.hide(status);
    screen.show(status);
    expect(taken()).toBe("");
    release();
    vi.advanceTimersByTime(FRAME_MS);
    expect(withoutEscapes(taken())).toMatch(/\S working$/);
    screen.hide(status);
  });

  it("does not erase another program's line when a status line ends meanwhile", () => {
    const { screen, taken } = standardOutput();
    const status = { text: () => "working" };
    screen.show(status);
    const release = hold();
    taken();
    screen.hide(status);
    screen.print(["news"]);
    release();
    expect(taken()).toBe("news\n");
  });

  it("is the same for streams that are no terminals, and for notices", () => {
    const stream = new PassThrough();
    const notices = vi.spyOn(console, "error").mockImplementation(() => {});
    const release = hold();
    screenOf(stream as unknown as NodeJS.WriteStream).print(["plain"]);
    printNotice("run-7", "Waiting.");
    expect(stream.read()).toBeNull();
    expect(notices).not.toHaveBeenCalled();
    release();
    expect(String(stream.read())).toBe("plain\n");
    expect(notices).toHaveBeenCalledExactlyOnceWith("[run-7] Waiting.");
  });

  it("keeps the latest of what there is to print, however much it is", () => {
    const printed: number[] = [];
    const release = hold();
    for (let number = 0; number < 5000; number++) whenFree(() => printed.push(number));
    release();
    expect(printed).toHaveLength(1000);
    expect(printed.at(-1)).toBe(4999);
  });

  it("stays with the one who has it when another, who has come later, lets go first", () => {
    const { screen, taken } = standardOutput();
    const releaseFirst = hold();
    const releaseSecond = hold();
    taken();
    screen.print(["news"]);
    releaseSecond();
    expect(taken()).toBe("");
    releaseFirst();
    expect(taken()).toBe("news\n");
  });

  it("is not given back twice by the same holder", () => {
    const { screen, taken } = standardOutput();
    const releaseFirst = hold();
    releaseFirst();
    const releaseSecond = hold();
    releaseFirst();
    taken();
    screen.print(["news"]);
    expect(taken()).toBe("");
    releaseSecond();
    expect(taken()).toBe("news\n");
  });
});

it("nothing is held back when no other program has the screen", () => {
  const { screen, taken } = standardOutput();
  screen.print(["now"]);
  expect(taken()).toBe("now\n");
});
