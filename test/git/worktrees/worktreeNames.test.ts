import { expect, it } from "vitest";
import { worktreeDirectoryName } from "../../../src/git/worktrees/worktrees.ts";

it("gives every branch a directory of its own", () => {
  const branches = [
    "a/b",
    "a-b",
    "a--b",
    "A/b",
    "a.b",
    "a b",
    "ä/b",
    "a/b/c",
    "a-b-c",
    "x".repeat(300),
    `${"x".repeat(300)}y`,
  ];
  const names = branches.map(worktreeDirectoryName);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(branches.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9._-]{1,60}$/);
});

it("stays readable", () => {
  expect(worktreeDirectoryName("agent/fix-42")).toMatch(/^agent-fix-42-[0-9a-f]{10}$/);
});
