import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../src/index.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import { type AgentName, apiError, begins, claudeSession, failure, print, SUCCESS } from "./posing.ts";
import { attackProcess, hostHome } from "./sessionAttacks.ts";

const TIMEOUT = { timeout: 120_000 };

const bigLine = (before: string, megabytes: number, pattern: string, after: string): string =>
  `printf '%s' '${before}'; yes '${pattern}' | tr -d '\\n' | head -c ${megabytes}000000; printf '%s\\n' '${after}'`;

const play = (agent: AgentName, script: string) =>
  attackProcess({ agent, script, cwd: temporaryRepository() }, { heapMegabytes: 512 });

describe("words of the agent's that take long to read do not block the host", () => {
  it("an error that goes on and on about a reset", TIMEOUT, async () => {
    const outcome = await play(
      "claude",
      `${bigLine('{"type":"assistant","is_api_error_message":true,"api_error_status":429,"message":{"content":[{"type":"text","text":"', 4, "reset", '"}]}}')}
       ${print(SUCCESS)}`,
    );
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it("a line of a log that goes on and on about an error", TIMEOUT, async () => {
    const outcome = await play(
      "opencode",
      `{ ${bigLine("level=ERROR stream error ", 4, "error.", "")}; } >&2
       ${print({ type: "step_finish", part: { reason: "stop" } })}`,
    );
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it("an answer of a server that goes on and on", TIMEOUT, async () => {
    const outcome = await play(
      "gemini",
      `{ ${bigLine("Error: ", 4, '{"error":', "")}; } >&2
       ${print({ type: "result", status: "success" })}`,
    );
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it.each([
    ["in many times", "in 1 "],
    ["many numbers", "after 1 1"],
    ["many clocks", "at 1"],
    ["many dates", "Jan 1, 2"],
    ["many keys", "api key no "],
    ["many bars", "|1|"],
    ["many iso dates", "2026-01-01T"],
  ])("an error with %s", TIMEOUT, async (_, words) => {
    const outcome = await play(
      "claude",
      `${bigLine('{"type":"assistant","is_api_error_message":true,"api_error_status":429,"message":{"content":[{"type":"text","text":"', 4, words, '"}]}}')}
       ${print(SUCCESS)}`,
    );
    expect(outcome).toMatchObject({ iterations: [{}] });
  });
});

describe("an agent that makes the host remember things does not exhaust its memory", () => {
  const lines = (before: string, after: string) =>
    `X=$(head -c 6000000 /dev/zero | tr '\\0' x)
     i=0; while [ $i -lt 100 ]; do printf '%s%s%s%s\\n' '${before}' "$X" "$i" '${after}'; i=$((i+1)); done`;

  it("with long ids of messages", TIMEOUT, async () => {
    const script = `${lines('{"type":"assistant","message":{"id":"', '","usage":{"output_tokens":1}}}')}
      ${print(SUCCESS)}`;
    expect(await play("claude", script)).toMatchObject({ iterations: [{}] });
  });

  it("with long ids of tool calls", TIMEOUT, async () => {
    const script = `${lines('{"type":"item.started","item":{"type":"x","id":"', '"}}')}
      ${print({ type: "turn.completed", usage: {} })}`;
    expect(await play("codex", script)).toMatchObject({ iterations: [{}] });
  });

  it("with long session ids", TIMEOUT, async () => {
    const script = `${lines('{"type":"system","subtype":"init","session_id":"', '"}')}
      ${print(begins("last"), SUCCESS)}`;
    expect(await play("claude", script)).toMatchObject({ iterations: [{}] });
  });

  it("with a flood of errors", TIMEOUT, async () => {
    const flood = print(apiError("Overloaded, try again in 3 s", 529));
    const script = `yes "$(${flood})" | head -c 40000000; echo
      ${print(failure("Overloaded", 529))}`;
    expect(await play("claude", script)).toMatchObject({ error: "AgentOverloadedError" });
  });
});

describe("a session file that is costly to read costs only the capture", () => {
  const captured = async (...lines: string[]) => {
    hostHome();
    return attackProcess({
      agent: "claude",
      script: claudeSession("abc", ...lines),
      cwd: temporaryRepository(),
    });
  };

  it("a single line of many small things", TIMEOUT, async () => {
    const outcome = await captured(`{ ${bigLine("[", 40, "{},", "{}]")}; } > abc.jsonl`);
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it("nothing but line ends", TIMEOUT, async () => {
    const outcome = await captured("yes '' | head -c 8000000 > abc.jsonl");
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it("many small things, and a character that may be part of a path", TIMEOUT, async () => {
    const outcome = await captured(`{ ${bigLine('["\\\\u0041",', 15, "{},", "{}]")}; } > abc.jsonl`);
    expect(outcome).toMatchObject({ iterations: [{}] });
  });

  it("brackets without end", TIMEOUT, async () => {
    const outcome = await captured(`{ ${bigLine("", 50, "[", "")}; } > abc.jsonl`);
    expect(outcome).toMatchObject({ iterations: [{}] });
  });
});

describe("a session on the host that is costly to read", () => {
  const resumed = async (sessionId: string, content: string, options: Partial<RunOptions>) => {
    const directory = join(hostHome(), "sessions/2026/01/01");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `rollout-1-${sessionId}.jsonl`), content);
    return attackProcess({
      agent: "codex",
      script: print({ type: "turn.completed", usage: {} }),
      cwd: temporaryRepository(),
      options: { resumeSession: sessionId, ...options },
    });
  };

  it("is resumed or refused, when it is a single line of many small things", TIMEOUT, async () => {
    const outcome = await resumed("abc", `[${"{},".repeat(20_000_000)}{}]`, {});
    expect(outcome.error ?? "none").toMatch(/^(none|AgentSession\w+Error|InvalidOptionsError|SandboxError)$/);
  });

  it("is forked or refused, when its id stands everywhere in it", TIMEOUT, async () => {
    const outcome = await resumed("a", "a".repeat(20_000_000), { forkSession: true });
    expect(outcome.error ?? "none").toMatch(/^(none|AgentSession\w+Error|InvalidOptionsError|SandboxError)$/);
  });
});
