import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/agents/contract.ts";
import { RunLog, type RunLogOptions } from "../../src/display/runLog.ts";
import { Tally } from "../../src/display/tally.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { cutText, seededRandom } from "../helpers/seededRandom.ts";

const STAMP = { iteration: 1, timestamp: new Date(0) };
const TIME = /\[sanddune \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] /g;
const END = { state: "succeeded", reached: {}, tally: new Tally(performance.now()) } as const;

const open = (options: Partial<RunLogOptions> = {}) => {
  const path = join(temporaryDirectory(), "run.log");
  const log = new RunLog({ kind: "run", path, name: undefined, isVerbose: false, ...options });
  return { path, log, tell: (event: AgentEvent) => log.event({ ...event, ...STAMP }) };
};

/** What a log says before its last words. Times are left out. */
const logged = (
  feed: (log: RunLog, tell: (event: AgentEvent) => void) => void,
  options: Partial<RunLogOptions> = {},
): string => {
  const { path, log, tell } = open(options);
  feed(log, tell);
  log.close(END);
  const text = readFileSync(path, "utf8").replace(TIME, "* ");
  return text.slice(0, text.search(/^.*\* The run succeeded/m));
};

describe("the run log", () => {
  it.each<[string, AgentEvent, string]>([
    ["text", { type: "text", text: "Hello.\n" }, "Hello.\n"],
    [
      "a tool call",
      { type: "toolCall", name: "Bash", input: { command: "ls" } },
      '[tool call] Bash {"command":"ls"}\n',
    ],
    ["a tool result", { type: "toolResult", output: "a\nb" }, "[tool result] a\n  b\n"],
    ["a session id", { type: "sessionId", sessionId: "s-1" }, "[session] s-1\n"],
    ["success", { type: "result", isError: false, message: "ok" }, "[agent finished] ok\n"],
    ["failure", { type: "result", isError: true, message: "no" }, "[agent failed] no\n"],
    ["what nobody understood", { type: "raw", line: "?", stream: "stderr" }, "[stderr] ?\n"],
  ])("has %s", (_, event, text) => {
    expect(logged((_log, tell) => tell(event))).toBe(text);
  });

  it("puts pieces of text together, and everything else on lines of its own", () => {
    const text = logged((log, tell) => {
      tell({ type: "text", text: "Let me " });
      tell({ type: "text", text: "see" });
      tell({ type: "toolCall", name: "Read", input: {} });
      tell({ type: "text", text: "Well" });
      log.note("Noted.");
      log.warn("Careful.");
      log.iteration(2, 5);
      log.hookLine("host.onWorktreeReady", "installed");
    });
    expect(text).toBe(
      "Let me see\n[tool call] Read {}\nWell\n* Noted.\n* Warning: Careful.\n* Iteration 2 of at most 5.\n[host.onWorktreeReady] installed\n",
    );
  });

  it("has the name before every line, also of texts in pieces and of several lines", () => {
    const text = logged(
      (log, tell) => {
        tell({ type: "text", text: "a\n\nb" });
        tell({ type: "text", text: "c\n" });
        tell({ type: "text", text: "d\n" });
        tell({ type: "toolResult", output: "e\nf" });
        log.warn("g\nh");
      },
      { name: "fix-42" },
    );
    expect(text.split("\n").slice(0, -1)).toEqual(
      ["a", "", "bc", "d", "[tool result] e", "  f", "* Warning: g", "  h"].map((line) => `[fix-42] ${line}`),
    );
  });

  it("makes control characters visible, in the name too", () => {
    const text = logged((_log, tell) => tell({ type: "text", text: "\u001b]52;c;eA==\u0007\r\n" }), {
      name: "\u001b[2J",
    });
    expect(text).toBe("[\\u001b[2J] \\u001b]52;c;eA==\\u0007\\u000d\n");
  });

  it.each([
    [false, ""],
    [true, "[stdout] {}\n"],
  ])("has the lines that the agent printed when isVerbose is %s as %j", (isVerbose, text) => {
    expect(logged((log) => log.rawLine("{}", "stdout"), { isVerbose })).toBe(text);
  });

  it.each([
    ["many small pieces", 50_000, "0123456789\n"],
    ["pieces larger than its buffer", 3, `${"x".repeat(400_000)}\n`],
    ["pieces of wide characters", 2_000, `${"漢".repeat(100)}\n`],
  ])("loses and mixes up nothing of %s", (_, count, piece) => {
    const text = logged((_log, tell) => {
      for (let number = 0; number < count; number++) tell({ type: "text", text: `${number} ${piece}` });
    });
    expect(text === Array.from({ length: count }, (_, number) => `${number} ${piece}`).join("")).toBe(true);
  });

  it.each([1, 2, 3, 4, 5])("does not depend on how a text is cut into pieces (seed %i)", (seed) => {
    const random = seededRandom(seed);
    const line = () => `${"漢 \u001b[1m x".repeat(random(300))}${"\n".repeat(1 + random(2))}`;
    const whole = Array.from({ length: 100 }, line).join("");
    const options = { name: "fix-42" };
    const asOne = logged((_log, tell) => tell({ type: "text", text: whole }), options);
    const inPieces = logged((_log, tell) => {
      for (const text of cutText(whole, random, 2000)) tell({ type: "text", text });
    }, options);
    expect(asOne.length).toBeGreaterThan(whole.length);
    expect(inPieces === asOne).toBe(true);
  });

  it("can be followed while the run continues", async () => {
    const { path, log, tell } = open();
    tell({ type: "text", text: "at once" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(readFileSync(path, "utf8")).toBe("at once");
    log.close(END);
  });

  it("ends with how the run ended, why, and its figures", () => {
    const { path, log } = open({ name: "n" });
    log.close({ ...END, state: "failed", problem: "It broke.", reached: { runId: "r", branch: "b" } });
    expect(readFileSync(path, "utf8").replace(TIME, "* ").split("\n").slice(0, 5)).toEqual([
      "[n] * The run failed. It broke.",
      "[n] Branch      b",
      "[n] Commits     none",
      "[n] Iterations  0",
      "[n] Tool calls  0",
    ]);
  });

  it("is for its user's eyes only, and never replaces a file", () => {
    const { path, log } = open();
    log.close(END);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, "precious");
    expect(() => new RunLog({ kind: "run", path, name: undefined, isVerbose: false })).toThrow(/EEXIST/);
    expect(readFileSync(path, "utf8")).toBe("precious");
  });

  it.each([
    ["a big integer", { count: 1n }],
    [
      "a circle",
      (() => {
        const circle: Record<string, unknown> = {};
        circle["self"] = circle;
        return circle;
      })(),
    ],
  ])("does not throw at a tool call whose input is %s", (_, input) => {
    expect(logged((_log, tell) => tell({ type: "toolCall", name: "Odd", input }))).toContain("Odd");
  });
});
