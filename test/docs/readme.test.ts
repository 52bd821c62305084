import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const readme = readFileSync(join(ROOT, "README.md"), "utf8");

describe("the README", () => {
  it("names the sandbox providers that one's own can begin with", () => {
    for (const name of ["docker", "podman", "bubblewrap", "test-isolated", "vercel"]) {
      expect(readme).toContain(`(src/sandboxes/${name}.ts)`);
    }
  });

  it("links to files that are there", () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it("is short enough to be read", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(250);
  });
});
