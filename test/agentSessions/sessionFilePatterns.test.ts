import { describe, expect, it } from "vitest";
import { claudeCode } from "../../src/agents/claudeCode/provider.ts";
import { codex } from "../../src/agents/codex/provider.ts";
import { opencode } from "../../src/agents/opencode/provider.ts";
import { pi } from "../../src/agents/pi/provider.ts";
import { globMatcher } from "../../src/tools/globs.ts";

const patternsOf = {
  claudeCode: claudeCode("m").sessions?.files("s-1") ?? [],
  codex: codex("m").sessions?.files("s-1") ?? [],
  opencode: opencode("m").sessions?.files("s-1") ?? [],
  pi: pi("m").sessions?.files("s-1") ?? [],
};

describe("a file of a session", () => {
  it.each([
    ["claudeCode", "projects/-workspace-repo/s-1.jsonl"],
    ["claudeCode", "projects/-workspace-repo/s-1/subagents/agent-a55d.jsonl"],
    ["claudeCode", "projects/-workspace-repo/s-1/subagents/agent-a55d.meta.json"],
    ["claudeCode", "projects/-workspace-repo/s-1/tool-results/b7ar3eh37.txt"],
    ["codex", "sessions/2026/11/16/rollout-2026-11-16T07-00-00-s-1.jsonl"],
    ["opencode", "opencode/sanddune/s-1.json"],
    ["pi", "sessions/--workspace-repo--/2026-11-16T07-00-00-000Z_s-1.jsonl"],
    ["pi", "sessions/--home-ä b--/2026_s-1.jsonl"],
  ] as const)("of %s is known: %s", (agent, file) => {
    expect(globMatcher(patternsOf[agent])(file)).toBe(true);
  });

  it.each([
    "projects/-workspace-repo/s-2.jsonl",
    "projects/-workspace-repo/s-1xjsonl",
    "projects/-workspace-repo/xs-1.jsonl",
    "projects/../s-1.jsonl",
    "projects/./s-1.jsonl",
    "projects//s-1.jsonl",
    "projects/.hidden/s-1.jsonl",
    "projects/a/b/s-1.jsonl",
    "projects/a\n/s-1.jsonl",
    "projects/a\0/s-1.jsonl",
    "projects/a\u001b[2J/s-1.jsonl",
    "projects/a/s-1.jsonl\n",
    "projects/a/s-1.jsonl/",
    "projects/s-1.jsonl",
    "/projects/a/s-1.jsonl",
    "./projects/a/s-1.jsonl",
    "../projects/a/s-1.jsonl",
    "Projects/a/s-1.jsonl",
    "projects/a/s-1/subagents/../x.jsonl",
    "projects/a/s-1/subagents/.x.jsonl",
    "projects/a/s-1/subagents/deeper/x.jsonl",
    "projects/a/s-1/../../../settings.json",
    "settings.json",
    ".credentials.json",
    "",
    "/",
    "..",
  ])("is nothing else that a sandbox may name: %j", (file) => {
    expect(globMatcher(patternsOf.claudeCode)(file)).toBe(false);
  });
});
