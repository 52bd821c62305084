import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { TerminalError } from "../../../src/errors.ts";
import { takeTerminal } from "../../../src/process/terminal/terminalLease.ts";

/** Says which of the standard streams are a terminal. */
const pretend = (streams: { stdin: boolean; stdout: boolean }): void => {
  for (const name of ["stdin", "stdout"] as const) {
    const before = Object.getOwnPropertyDescriptor(process[name], "isTTY");
    Object.defineProperty(process[name], "isTTY", { value: streams[name], configurable: true });
    onTestFinished(() => {
      if (before) Object.defineProperty(process[name], "isTTY", before);
      else Reflect.deleteProperty(process[name], "isTTY");
    });
  }
};

describe("the terminal of this process", () => {
  it.each([
    ["standard input", { stdin: false, stdout: true }],
    ["standard output", { stdin: true, stdout: false }],
  ])("cannot be reserved if %s is something else, and the error says what to do", (_, streams) => {
    pretend(streams);
    expect(takeTerminal).toThrow(TerminalError);
    expect(takeTerminal).toThrow(/Start it from a terminal.*run\(\)/);
  });

  describe("if there is one", () => {
    beforeEach(() => pretend({ stdin: true, stdout: true }));

    it("belongs to one session at a time", () => {
      const release = takeTerminal();
      expect(takeTerminal).toThrow(/another interactive session.*Wait/);
      release();
      takeTerminal()();
    });

    it("stays reserved after another session was refused", () => {
      const release = takeTerminal();
      for (const _ of [1, 2]) expect(takeTerminal).toThrow(TerminalError);
      release();
      takeTerminal()();
    });
  });
});
