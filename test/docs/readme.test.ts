import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { brokenLinks } from "../helpers/markdownLinks.ts";

const ROOT = join(import.meta.dirname, "../..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");

describe("the README", () => {
  it("names the sandbox providers to start your own from", () => {
    for (const name of ["docker", "podman", "bubblewrap", "test-isolated", "vercel"]) {
      expect(readme).toContain(`/blob/main/src/sandboxes/${name}.ts\n`);
    }
  });

  it("links to existing files", () => {
    expect(readme).toContain("](docs/quick-start.md)");
    expect(brokenLinks(ROOT, "README.md")).toEqual([]);
  });

  it("is short enough to be read", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(250);
  });
});
