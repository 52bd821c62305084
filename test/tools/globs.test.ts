import { describe, expect, it } from "vitest";
import { globMatcher, globProblem, globRoots } from "../../src/tools/globs.ts";

describe("a glob", () => {
  it.each([
    ["report.xml", "report.xml"],
    ["*.xml", "report.xml"],
    ["out/*.txt", "out/a.txt"],
    ["out/?.txt", "out/a.txt"],
    ["out/**/*.txt", "out/a.txt"],
    ["out/**/*.txt", "out/b/c/a.txt"],
    ["**/coverage/*", "coverage/index.html"],
    ["**/coverage/*", "a/b/coverage/index.html"],
    ["**/*", "a/b"],
    [".cache/*", ".cache/a"],
    ["a+b (1)/[x].txt", "a+b (1)/[x].txt"],
    ["ä/*.txt", "ä/ö.txt"],
    ["a?.txt", "a😀.txt"],
    ["*a*b*c", "xaxbaxbcxc"],
    ["**/a/**/b/*.txt", "a/a/x/b/a/b/b.txt"],
    ["**/.github/**/*.yml", "a/.github/b/c.yml"],
  ])("%s matches %s", (glob, path) => {
    expect(globProblem(glob)).toBeUndefined();
    expect(globMatcher([glob])(path)).toBe(true);
  });

  it.each([
    ["*.xml", "out/report.xml"],
    ["*.xml", ".hidden.xml"],
    ["**/*", ".env"],
    ["**/*", "a/.env"],
    ["**/*", ".ssh/id"],
    ["**/*", "../secret"],
    ["**/*", "a/../../secret"],
    ["**/*", "/etc/passwd"],
    ["**/*", "a//b"],
    ["**/*", "a/.git/config"],
    [".git/*", ".git/config"],
    ["*", "a\nb"],
    ["*", "a\u001bb"],
    ["out/?.txt", "out/ab.txt"],
    ["out/*.txt", "out/axtxt"],
    ["**/*", `${"a/".repeat(600)}b`],
    ["**/x/*", "a/.x/x/b"],
    ["a/**/b", "a/c"],
    ["*a*b", "ba"],
    // Trying every way to divide the name would never end.
    ["*-*-*-*-*-*-*-*.log", "-".repeat(1000)],
    ["**/a/**/a/**/a/**/a/**/a/**/b", "a/".repeat(500).slice(0, -1)],
  ])("%s does not match %j", (glob, path) => {
    expect(globMatcher([glob])(path)).toBe(false);
  });

  it.each(["a.b", "a+(b)", "[ab]", "a|b", "^$"])("%s matches nothing but itself", (glob) => {
    expect(globMatcher([glob])(glob)).toBe(true);
    for (const path of ["axb", "aab", "a", "ab", ""]) expect(globMatcher([glob])(path)).toBe(false);
  });

  it("of none matches nothing", () => {
    expect(globMatcher([])("a")).toBe(false);
  });

  it.each([
    "",
    "/etc/passwd",
    "../x",
    "a/../b",
    "./a",
    "a//b",
    "a/",
    "a\\b",
    "a\nb",
    "a**/b",
    "a/**",
    "x".repeat(600),
  ])("cannot be %j", (glob) => {
    expect(globProblem(glob)).toEqual(expect.any(String));
  });

  it("is looked for in as few directories as possible", () => {
    expect(globRoots(["a/b/*.txt", "a/*/x", "c/d", "a/b/c/**/*"])).toEqual(["a", "c"]);
    expect(globRoots(["a/b", "*.txt"])).toEqual([""]);
  });
});
