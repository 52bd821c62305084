import { PassThrough } from "node:stream";
import { beforeEach, expect, it, vi } from "vitest";
import { type Screen, type StatusLine, screenOf } from "../../src/display/screen.ts";
import { plain } from "../../src/display/style.ts";
import { Tally } from "../../src/display/tally.ts";
import { TerminalDisplay } from "../../src/display/terminalDisplay.ts";

const OPTIONS = { kind: "run", agent: "my-agent", name: undefined, isVerbose: false } as const;

beforeEach(() => {
  vi.stubEnv("NO_COLOR", undefined);
  vi.stubEnv("TERM", "xterm-256color");
  return () => vi.unstubAllEnvs();
});

it("a summary begins on a line of its own, also if the program has not ended its line", () => {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const display = new TerminalDisplay(screenOf(stream as unknown as NodeJS.WriteStream), OPTIONS);
  display.step("Working");
  stream.write("working ...");
  display.close({ state: "succeeded", reached: {}, tally: new Tally(0) });
  const shown = String(stream.read()).replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
  expect(shown).toContain("working ...\n✓");
});

it("an iteration begins without the failed attempts of the one before", () => {
  let status: StatusLine | undefined;
  const screen: Screen = {
    ...{ style: plain, isLive: true, columns: 80, print: () => {}, hide: () => {} },
    show: (line) => {
      status = line;
    },
  };
  const display = new TerminalDisplay(screen, OPTIONS);
  const trouble = { type: "error", kind: "unreachable", message: "no route", willRetry: true } as const;
  display.iteration(1, 2);
  display.step("Working");
  display.event({ ...trouble, iteration: 1, timestamp: new Date() });
  expect(status?.text()).toContain("attempt 2");
  display.iteration(2, 2);
  expect(status?.text()).not.toContain("attempt");
});
