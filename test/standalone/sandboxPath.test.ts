import { expect, it } from "vitest";
import { InvalidOptionsError } from "../../src/errors.ts";
import { sandboxPath } from "../../src/standalone/sandboxPath.ts";

it.each([
  ["/etc/hostname", "/etc/hostname"],
  ["/a/../etc", "/a/../etc"],
  ["file", "/work/file"],
  ["./a/b", "/work/./a/b"],
  ["a/../b", "/work/a/../b"],
  ["..a/b", "/work/..a/b"],
  ["~/x", "/work/~/x"],
  ["-rf", "/work/-rf"],
])("%s is %s", (path, expected) => {
  expect(sandboxPath("/work", path)).toBe(expected);
});

it.each(["..", "../x", "a/../../x", "./..", "a/b/../../.."])("%s leaves the directory", (path) => {
  expect(() => sandboxPath("/work", path)).toThrow(InvalidOptionsError);
  expect(() => sandboxPath("/work", path)).toThrow("leaves the directory of the sandbox");
});

it.each([undefined, null, 5, "", "a\0b", ["x"]])("%j is not a path", (path) => {
  expect(() => sandboxPath("/work", path, "cwd")).toThrow(/^Option `cwd`: must be a path in the sandbox/);
});
