import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/agents/contract.ts";
import { UnknownLines } from "../../../src/engine/agent/unknownLines.ts";

const raw = (line: string): AgentEvent[] => [{ type: "raw", line, stream: "stdout" }];
const TEXT: AgentEvent[] = [{ type: "text", text: "a" }];

const shorten = (line: string): string => line.slice(0, 20);

const counted = (known: number, unknown: number): UnknownLines => {
  const lines = new UnknownLines(shorten);
  for (let index = 0; index < unknown; index++)
    lines.push(`unknown ${index}`, "stdout", raw(`unknown ${index}`));
  for (let index = 0; index < known; index++) lines.push("known", "stdout", TEXT);
  return lines;
};

describe("the warning about lines that were not understood", () => {
  it("goes by the lines that mean something: pieces of messages do not outweigh them", () => {
    const lines = counted(1, 5);
    for (let index = 0; index < 1000; index++) lines.push("piece", "stdout", []);
    expect(lines.warning("fake")).toContain("5 of 6 output lines");
  });

  it("names the agent, the numbers and the first of them", () => {
    const warning = counted(3, 7).warning("fake");
    expect(warning).toContain("7 of 10 output lines");
    expect(warning).toContain("fake");
    expect(warning).toContain("unknown 0");
  });

  it.each([
    [0, 0],
    [0, 4],
    [5, 5],
    [100, 50],
  ])("is not given for %d known lines and %d others", (known, unknown) => {
    expect(counted(known, unknown).warning("fake")).toBeUndefined();
  });

  it.each([
    [0, 5],
    [4, 5],
    [999, 1000],
  ])("is given for %d known lines and %d others", (known, unknown) => {
    expect(counted(known, unknown).warning("fake")).toBeDefined();
  });

  it("shows of the first line only what may be shown", () => {
    const lines = new UnknownLines((line) => line.replaceAll("secret", "[REDACTED]"));
    for (let index = 0; index < 5; index++) lines.push(`secret ${index}`, "stdout", raw(""));
    expect(lines.warning("fake")).toMatch(/The first one: \[REDACTED\] 0$/);
  });
});

describe("the number of lines that were not understood", () => {
  it("is counted, however few there are", () => {
    expect(counted(100, 2).count).toBe(2);
  });

  it("does not hold what is printed to stderr, nor blank lines", () => {
    const lines = new UnknownLines(shorten);
    lines.push("npm warn", "stderr", [{ type: "raw", line: "npm warn", stream: "stderr" }]);
    lines.push("", "stdout", raw(""));
    lines.push("  \t", "stdout", raw("  \t"));
    expect(lines.count).toBe(0);
  });

  it("holds a line that was understood in part", () => {
    const lines = new UnknownLines(shorten);
    lines.push("half", "stdout", [...TEXT, ...raw("half")]);
    expect(lines.count).toBe(1);
  });
});
