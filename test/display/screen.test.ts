import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Screen, screenOf } from "../../src/display/screen.ts";

const ERASE = "\u001b[2K";

/** What a terminal would get, byte for byte. */
const terminal = (size: { isTTY?: boolean; columns?: number; rows?: number }) => {
  const stream = new PassThrough();
  let written = "";
  stream.on("data", (chunk) => {
    written += chunk;
  });
  Object.assign(stream, size);
  return {
    screen: (): Screen => screenOf(stream as unknown as NodeJS.WriteStream),
    /** What the program itself writes. */
    write: (chunk: string | Buffer) => stream.write(chunk),
    isPatched: () => Object.hasOwn(stream, "write"),
    resize: (columns: number) => Object.assign(stream, { columns }),
    /** What was written since the last time. */
    taken: () => {
      const taken = written;
      written = "";
      return taken;
    },
  };
};

const line = (text: string) => ({ text: () => text });
const withoutEscapes = (text: string) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");

beforeEach(() => {
  vi.stubEnv("NO_COLOR", undefined);
  vi.stubEnv("TERM", "xterm-256color");
  return () => vi.unstubAllEnvs();
});

describe("a screen", () => {
  it.each<[string, Parameters<typeof terminal>[0], Record<string, string>]>([
    ["is not a terminal", {}, {}],
    ["is to have no colours", { isTTY: true, columns: 80 }, { NO_COLOR: "1" }],
    ["can nothing but print", { isTTY: true, columns: 80 }, { TERM: "dumb" }],
  ])("that %s gets lines and nothing else", (_, size, env) => {
    for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
    const { screen, taken } = terminal(size);
    const status = line("working");
    screen().show(status);
    screen().print([screen().style("red", "one"), "two"]);
    screen().hide(status);
    expect(taken()).toBe("one\ntwo\n");
  });

  it("takes an empty NO_COLOR for none", () => {
    vi.stubEnv("NO_COLOR", "");
    expect(terminal({ isTTY: true, columns: 80 }).screen().style("red", "x")).toBe("\u001b[31mx\u001b[0m");
  });

  it("is shared by all displays on the same stream", () => {
    const { screen } = terminal({ isTTY: true, columns: 80 });
    expect(screen()).toBe(screen());
  });

  it("prints above the status lines, and paints them again below", () => {
    const { screen, taken } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const [first, second] = [line("first"), line("second")];
    screen().show(first);
    screen().show(second);
    taken();
    screen().print(["news"]);
    const [, erasing, rest] = /^(\r(?:\u001b\[[0-9]*[A-Z])*)([\s\S]*)$/.exec(taken()) ?? [];
    expect(erasing).toBe(`\r${ERASE}\u001b[1A${ERASE}`);
    expect(withoutEscapes(rest ?? "")).toMatch(/^news\n\S first\n\S second$/);
    screen().hide(first);
    screen().hide(second);
    expect(taken().endsWith(`\r${ERASE}`)).toBe(true);
  });

  it("keeps what the program itself writes above the status lines", () => {
    const { screen, write, taken } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const status = line("working");
    screen().show(status);
    taken();
    write(Buffer.from("mine\n"));
    expect(withoutEscapes(taken())).toMatch(/^\rmine\n\S working$/);
    write("half a ");
    expect(withoutEscapes(taken())).toBe("\rhalf a ");
    screen().print([]);
    expect(withoutEscapes(taken())).toMatch(/^\n\S working$/);
    screen().hide(status);
  });

  it("paints no status line into a line that the program has begun", () => {
    const { screen, write, taken } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const [first, second] = [line("first"), line("second")];
    screen().show(first);
    write("half a ");
    taken();
    screen().show(second);
    expect(taken()).toBe("");
    write("line\n");
    expect(withoutEscapes(taken())).toMatch(/^line\n\S first\n\S second$/);
    screen().hide(first);
    screen().hide(second);
  });

  it("leaves the stream as it was when there is no status line any more", () => {
    const { screen, write, taken, isPatched } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const status = line("working");
    screen().show(status);
    expect(isPatched()).toBe(true);
    screen().hide(status);
    expect(isPatched()).toBe(false);
    taken();
    write("mine");
    expect(taken()).toBe("mine");
  });

  it("never paints a status line over the right edge", () => {
    const { screen, taken } = terminal({ isTTY: true, columns: 20, rows: 24 });
    const status = line("漢".repeat(40));
    screen().show(status);
    // The spinner, a blank and the ellipsis take one column each, every other character two.
    expect(withoutEscapes(taken()).length).toBeLessThanOrEqual(3 + (20 - 3) / 2);
    screen().hide(status);
  });

  it("leaves room for what is printed when there are more status lines than rows", () => {
    const { screen, taken } = terminal({ isTTY: true, columns: 80, rows: 6 });
    const lines = Array.from({ length: 10 }, (_, number) => line(`run ${number}`));
    for (const status of lines) screen().show(status);
    taken();
    screen().print([]);
    const painted = withoutEscapes(taken()).trim().split("\n");
    expect(painted).toHaveLength(4);
    expect(painted.at(-1)).toBe("… and 7 more");
    for (const status of lines) screen().hide(status);
  });

  it("goes back over the rows that a narrower terminal has made of its status lines", () => {
    const { screen, taken, resize } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const status = line("x".repeat(70));
    screen().show(status);
    taken();
    resize(30);
    screen().hide(status);
    expect(taken()).toBe(`\r${ERASE}${`\u001b[1A${ERASE}`.repeat(2)}`);
  });

  it("does not erase the line above when a narrower terminal still holds the status line", () => {
    const { screen, taken, resize } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const status = line(`${"x".repeat(30)} · 12 s`);
    screen().show(status);
    const { length } = withoutEscapes(taken());
    resize(length);
    screen().hide(status);
    expect(taken()).toBe(`\r${ERASE}`);
  });

  it("takes a terminal that does not know its size for an ordinary one", () => {
    const { screen, taken } = terminal({ isTTY: true, columns: 0, rows: 0 });
    const status = line("working");
    screen().show(status);
    screen().print(["news"]);
    screen().hide(status);
    expect(withoutEscapes(taken())).toMatch(/^\S working\rnews\n\S working\r$/);
  });

  it("draws status lines of one row each, whatever they say", () => {
    const { screen, taken } = terminal({ isTTY: true, columns: 80, rows: 24 });
    const status = line("Copying a\nb\tc");
    screen().show(status);
    expect(withoutEscapes(taken())).not.toMatch(/[\n\t]/);
    screen().hide(status);
  });
});
