import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { continuesFile } from "../../src/agentSessions/continuesFile.ts";
import { rewriteFile } from "../../src/agentSessions/rewriteFile.ts";
import type { AgentSessions } from "../../src/index.ts";
import { codex, opencode } from "../../src/index.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const { signal } = new AbortController();
const CHUNK = 64 * 1024;

const write = (name: string, content: string | Buffer): string => {
  const path = join(temporaryDirectory(), name);
  writeFileSync(path, content);
  return path;
};

const rewritten = async (name: string, content: string | Buffer, rewrite = (json: string) => `<${json}>`) => {
  const to = join(temporaryDirectory(), "copy");
  await rewriteFile(write(name, content), to, { rewrite, signal });
  return readFileSync(to);
};

describe("a copy of a session's file", () => {
  it.each([
    ["a\nb\n", "<a>\n<b>\n"],
    ["a\n\nb", "<a>\n\n<b>"],
    ["", ""],
    ["\n", "\n"],
    ["a\u2028b\r\nc", "<a\u2028b\r>\n<c>"],
  ])("has each of its lines changed, and their ends kept: %j", async (content, changed) => {
    expect((await rewritten("s.jsonl", content)).toString()).toBe(changed);
  });

  it.each([-2, 0, 2])("has lines whole that lie over the end of a chunk (%d)", async (shift) => {
    const long = "ä".repeat((CHUNK + shift) / 2);
    expect((await rewritten("s.jsonl", `x${long}\n${long}\n`)).toString()).toBe(`<x${long}>\n<${long}>\n`);
  });

  it("is one record where the file is one", async () => {
    expect((await rewritten("s.json", "{\n}\n")).toString()).toBe("<{\n}\n>");
  });

  it("is the same to the byte where it holds no records, or nothing is changed", async () => {
    const bytes = Buffer.from([0x61, 0xff, 0x0a, 0xc3, 0x28]);
    expect(await rewritten("s.txt", bytes)).toEqual(bytes);
    expect(await rewritten("s.jsonl", bytes, (json) => json)).toEqual(bytes);
  });

  it("is for the user alone", async () => {
    const to = join(temporaryDirectory(), "copy");
    await rewriteFile(write("s.jsonl", "{}"), to, { rewrite: (json) => json, signal });
    expect(statSync(to).mode & 0o777).toBe(0o600);
  });
});

describe("a session's file that takes the place of another", () => {
  const sessions = codex("m").sessions as AgentSessions;
  const continues = (before: string, after: string) =>
    continuesFile(sessions, write("a.jsonl", before), write("b.jsonl", after), signal);

  it.each([
    ["a\n", "a\nb\n"],
    ["a\n", "a\n"],
    ["", "anything"],
    ["x".repeat(3 * CHUNK + 1), `${"x".repeat(3 * CHUNK + 1)}y`],
  ])("begins with all that was there (%#)", async (before, after) => {
    expect(await continues(before, after)).toBe(true);
  });

  it.each([
    ["a\n", ""],
    ["a\n", "b\n"],
    ["a\nb\n", "a\n"],
    [`${"x".repeat(2 * CHUNK)}y`, `${"x".repeat(2 * CHUNK)}zz`],
  ])("is refused otherwise (%#)", async (before, after) => {
    expect(await continues(before, after)).toBe(false);
  });

  it("has the messages of an exported session, whatever else has changed", () => {
    const exported = (...ids: string[]) =>
      JSON.stringify({ info: { time: ids.length }, messages: ids.map((id) => ({ info: { id } })) });
    const { sessions: ofOpencode } = opencode("a/m");
    expect(ofOpencode?.continues?.(exported("1", "2"), exported("1", "2", "3"))).toBe(true);
    expect(ofOpencode?.continues?.(exported("1", "2"), exported("1", "3"))).toBe(false);
    expect(ofOpencode?.continues?.(exported("1"), "no JSON")).toBe(false);
  });
});
