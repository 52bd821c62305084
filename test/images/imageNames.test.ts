import { expect, test } from "vitest";
import { checkImageName, namesTag } from "../../src/images/imageNames.ts";

const CASES = [
  ["sanddune:app", "sanddune:app", true],
  ["sanddune:app", "localhost/sanddune:app", true],
  ["sanddune:app", "sanddune:app2", false],
  ["tools", "tools:latest", true],
  ["host:5000/tools", "host:5000/tools:latest", true],
  ["404a0a2681ab", "sanddune:app", false],
] as const;

for (const [name, tag, expected] of CASES) {
  test(`${name} ${expected ? "stands" : "does not stand"} for ${tag}`, () => {
    expect(namesTag(name, tag)).toBe(expected);
  });
}

for (const name of [
  "tools",
  "sanddune:my-app",
  "sanddune:My_App.1",
  "Registry.example.com:5000/team/tools:1.0",
  "localhost/a__b/c.d--e",
  "[::1]:5000/tools",
  `tools@sha256:${"a".repeat(64)}`,
  "404a0a2681ab",
]) {
  test(`${name} is a name for an image`, () => {
    expect(checkImageName(name)).toBeUndefined();
  });
}

for (const name of [
  "",
  "Bad Name",
  "Tools",
  "-x",
  "a:b:c",
  "a//b",
  "a:",
  "/a",
  "a..b",
  "tools:-x",
  `tools:${"a".repeat(129)}`,
  "tools@sha256:abc",
  "tools\n",
]) {
  test(`${JSON.stringify(name)} is no name for an image`, () => {
    expect(checkImageName(name)).toContain(JSON.stringify(name));
  });
}
