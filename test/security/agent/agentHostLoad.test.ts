import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import type { AttackScene } from "./attackedHost.ts";
import { apiError, begins, claudeSession, failure, print, SUCCESS } from "./posing.ts";
import { attackProcess, hostHome } from "./sessionAttacks.ts";

const TIMEOUT = { timeout: 120_000 };

const bigLine = (before: string, megabytes: number, pattern: string, after: string): string =>
  `printf '%s' '${before}'; yes '${pattern}' | tr -d '\\n' | head -c ${megabytes}000000; printf '%s\\n' '${after}'`;

const allOf = <Name extends string>(scenes: Readonly<Record<Name, unknown>>, outcome: string) =>
  Object.fromEntries(Object.keys(scenes).map((name) => [name, outcome]));

it("words of the agent that take long to read do not block the host", TIMEOUT, async () => {
  const errorWith = (words: string): AttackScene => ({
    agent: "claude",
    script: `${bigLine('{"type":"assistant","is_api_error_message":true,"api_error_status":429,"message":{"content":[{"type":"text","text":"', 4, words, '"}]}}')}
      ${print(SUCCESS)}`,
  });
  const scenes = {
    "an error that goes on and on about a reset": errorWith("reset"),
    "an error with many times": errorWith("in 1 "),
    "an error with many numbers": errorWith("after 1 1"),
    "an error with many clocks": errorWith("at 1"),
    "an error with many dates": errorWith("Jan 1, 2"),
    "an error with many keys": errorWith("api key no "),
    "an error with many bars": errorWith("|1|"),
    "an error with many iso dates": errorWith("2026-01-01T"),
    "a line of a log that goes on and on about an error": {
      agent: "opencode",
      script: `{ ${bigLine("level=ERROR stream error ", 4, "error.", "")}; } >&2
        ${print({ type: "step_finish", part: { reason: "stop" } })}`,
    },
    "an answer of a server that goes on and on": {
      agent: "gemini",
      script: `{ ${bigLine("Error: ", 4, '{"error":', "")}; } >&2
        ${print({ type: "result", status: "success" })}`,
    },
  } as const;
  expect(await attackProcess(scenes, { heapMegabytes: 512 })).toEqual(allOf(scenes, "succeeded"));
});

it("an agent that makes the host remember things does not exhaust its memory", TIMEOUT, async () => {
  hostHome();
  const cwd = temporaryRepository();
  const lines = (before: string, after: string) =>
    `X=$(head -c 2000000 /dev/zero | tr '\\0' x)
     i=0; while [ $i -lt 30 ]; do printf '%s%s%s%s\\n' '${before}' "$X" "$i" '${after}'; i=$((i+1)); done`;
  const scenes = {
    "with long ids of messages": {
      agent: "claude",
      cwd,
      script: `${lines('{"type":"assistant","message":{"id":"', '","usage":{"output_tokens":1}}}')}
        ${print(SUCCESS)}`,
    },
    "with long ids of tool calls": {
      agent: "codex",
      cwd,
      script: `${lines('{"type":"item.started","item":{"type":"x","id":"', '"}}')}
        ${print({ type: "turn.completed", usage: {} })}`,
    },
    "with long session ids": {
      agent: "claude",
      cwd,
      script: `${lines('{"type":"system","subtype":"init","session_id":"', '"}')}
        ${print(begins("last"), SUCCESS)}`,
    },
    "with a flood of errors": {
      agent: "claude",
      cwd,
      script: `yes "$(${print(apiError("Overloaded, try again in 3 s", 529))})" | head -c 5000000; echo
        ${print(failure("Overloaded", 529))}`,
    },
  } as const;
  expect(await attackProcess(scenes, { heapMegabytes: 48 })).toEqual({
    ...allOf(scenes, "succeeded"),
    "with a flood of errors": "AgentOverloadedError",
  });
});

/** In megabytes: longer records are not looked into. */
const BEYOND_LIMIT = 18;

it("a session file that is costly to read costs only the capture", TIMEOUT, async () => {
  hostHome();
  const cwd = temporaryRepository();
  const captured = (...lines: string[]): AttackScene => ({
    agent: "claude",
    script: claudeSession("abc", ...lines),
    cwd,
  });
  const scenes = {
    "a single line of many small things": captured(
      `{ ${bigLine("[", BEYOND_LIMIT, "{},", "{}]")}; } > abc.jsonl`,
    ),
    "nothing but line ends": captured("yes '' | head -c 300000 > abc.jsonl"),
    "many small things, and a character that may be part of a path": captured(
      `{ ${bigLine('["\\\\u0041",', 6, "{},", "{}]")}; } > abc.jsonl`,
    ),
    "brackets without end": captured(`{ ${bigLine("", BEYOND_LIMIT, "[", "")}; } > abc.jsonl`),
  };
  // As much for each byte of a record as a gigabyte is for the longest that is looked into.
  expect(await attackProcess(scenes, { heapMegabytes: 384 })).toEqual(allOf(scenes, "succeeded"));
});

it("a session on the host that is costly to read is resumed or refused", TIMEOUT, async () => {
  const directory = join(hostHome(), "sessions/2026/01/01");
  mkdirSync(directory, { recursive: true });
  const resumed = (resumeSession: string, content: string, forkSession: boolean): AttackScene => {
    writeFileSync(join(directory, `rollout-1-${resumeSession}.jsonl`), content);
    return {
      agent: "codex",
      script: print({ type: "turn.completed", usage: {} }),
      cwd: temporaryRepository(),
      options: { resumeSession, forkSession },
    };
  };
  const scenes = {
    "a single line of many small things": resumed("line", `[${"{},".repeat(6_000_000)}{}]`, false),
    "its id stands everywhere in it, and it is to be copied": resumed("a".repeat(8), "a".repeat(6e6), true),
    "its id is but a letter, and it is to be copied": resumed("a", "a".repeat(6e6), true),
  };
  for (const outcome of Object.values(await attackProcess(scenes, { heapMegabytes: 384 }))) {
    expect(outcome).toMatch(/^(succeeded|AgentSession\w+Error|InvalidOptionsError|SandboxError)$/);
  }
});
