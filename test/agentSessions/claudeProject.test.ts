import { describe, expect, it } from "vitest";
import { claudeCodeProject, claudeCodeSessions } from "../../src/agents/claudeCode/sessions.ts";

/** The hash of a long path, by arithmetic alone: 31 times what was, plus the next unit, in 32 bits with a sign. */
const hashOf = (path: string): string => {
  const units = Array.from({ length: path.length }, (_, index) => BigInt(path.charCodeAt(index)));
  const hash = units.reduce((sum, unit) => BigInt.asIntN(32, sum * 31n + unit), 0n);
  return (hash < 0n ? -hash : hash).toString(36);
};

const pathOf = (length: number, name: string) => `/tmp/${name.repeat(length)}`.slice(0, length);

describe("the directory of Claude Code's sessions", () => {
  it.each([
    ["/workspace/repo", "-workspace-repo"],
    ["/tmp/w/real/.sanddune/worktrees/wt1", "-tmp-w-real--sanddune-worktrees-wt1"],
    ["/home/me/my.repo", "-home-me-my-repo"],
    ["/home/me/my repo", "-home-me-my-repo"],
    ["/home/me/my_repo@2", "-home-me-my-repo-2"],
    ["/home/jürgen/größe", "-home-j-rgen-gr--e"],
    ["/home/沙丘", "-home---"],
    ["/home/🏜", "-home---"],
    ["/home/🏜️", "-home----"],
    ["/home/Me-2", "-home-Me-2"],
    ["/", "-"],
  ])("is named after %s", (cwd, name) => {
    expect(claudeCodeProject(cwd)).toBe(name);
  });

  it("is the whole name of a path with 200 characters", () => {
    const path = pathOf(200, "abc.");
    expect(claudeCodeProject(path)).toBe(path.replace(/[^a-z]/g, "-"));
  });

  it.each([
    [201, "abc."],
    [298, "long-directory-name/"],
    [298, "größe/"],
    [260, "🏜/"],
    [4000, "x"],
  ])("ends with a hash of the path if that is longer: %d characters of %s", (length, part) => {
    const path = pathOf(length, part);
    const [name, hash] = [claudeCodeProject(path).slice(0, 200), claudeCodeProject(path).slice(200)];
    expect(name).toBe(path.slice(0, 200).replace(/[^a-zA-Z0-9]/g, "-"));
    expect(hash).toBe(`-${hashOf(path)}`);
  });

  it("has a hash that is never negative", () => {
    const hashes = Array.from({ length: 50 }, (_, index) => claudeCodeProject(pathOf(300 + index, "abc/")));
    for (const name of hashes) expect(name.slice(200)).toMatch(/^-[0-9a-z]+$/);
  });

  it("is different where only the end of a long path differs", () => {
    const path = pathOf(298, "a/");
    expect(claudeCodeProject(`${path}1`)).not.toBe(claudeCodeProject(`${path}2`));
  });
});

describe("the place of a file of a session", () => {
  it.each([
    ["projects/-workspace-repo/s-1.jsonl", "projects/-home-me-repo/s-1.jsonl"],
    [
      "projects/-workspace-repo/s-1/subagents/agent-1.jsonl",
      "projects/-home-me-repo/s-1/subagents/agent-1.jsonl",
    ],
    ["projects/$&/s-1/tool-results/x.txt", "projects/-home-me-repo/s-1/tool-results/x.txt"],
  ])("follows the directory in which the agent works: %s", (file, place) => {
    expect(claudeCodeSessions.place(file, "/home/me/repo")).toBe(place);
  });
});
