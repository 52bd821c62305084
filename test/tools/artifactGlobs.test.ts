import { describe, expect, it } from "vitest";
import { artifactMatcher, problemOfGlob, startsOf } from "../../src/tools/artifactGlobs.ts";

describe("a glob of artifacts", () => {
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
  ])("%s stands for %s", (glob, path) => {
    expect(problemOfGlob(glob)).toBeUndefined();
    expect(artifactMatcher([glob])(path)).toBe(true);
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
    // Nobody's machine lives to see the end of it if every way to divide the name is tried.
    ["*-*-*-*-*-*-*-*.log", "-".repeat(1000)],
    ["**/a/**/a/**/a/**/a/**/a/**/b", "a/".repeat(500).slice(0, -1)],
  ])("%s does not stand for %j", (glob, path) => {
    expect(artifactMatcher([glob])(path)).toBe(false);
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
    expect(problemOfGlob(glob)).toEqual(expect.any(String));
  });

  it("is looked for where it can be, and nowhere twice", () => {
    expect(startsOf(["a/b/*.txt", "a/*/x", "c/d", "a/b/c/**/*"])).toEqual(["a", "c"]);
    expect(startsOf(["a/b", "*.txt"])).toEqual([""]);
  });
});
