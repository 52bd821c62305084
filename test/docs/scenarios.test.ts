import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadScenarios } from "../../src/scenarios/pages/loadScenarios.ts";
import { readSuite } from "../../src/scenarios/suite/readSuite.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const REFERENCE = read("docs/scenario-reference.md");

/** Every name that an author can write, wherever the schema has it. */
const keysIn = (schema: unknown): string[] =>
  Object.entries((schema ?? {}) as Record<string, unknown>).flatMap(([key, value]) => {
    if (typeof value !== "object") return [];
    const own = key === "properties" ? Object.keys(value as object) : [];
    return [...own, ...keysIn(value)];
  });

/** In running text, or in a piece of JSON. */
const isTold = (name: string): boolean =>
  REFERENCE.includes(`\`${name}\``) || REFERENCE.includes(`"${name}"`);

it.each(["schemas/scenario.schema.json", "schemas/scenarios.schema.json"])(
  "tells of every key that is in %s",
  (file) => {
    const keys = keysIn(JSON.parse(read(file)));
    expect(keys.length).toBeGreaterThan(5);
    expect(keys.filter((key) => !isTold(key))).toEqual([]);
  },
);

it("describes every field of a record", () => {
  const fields = [...read("src/scenarios/records/record.ts").matchAll(/\breadonly (\w+)\??:/g)].map(
    ([, name = ""]) => name,
  );
  expect(fields.length).toBeGreaterThan(20);
  expect(fields.filter((name) => !isTold(name))).toEqual([]);
});

it("shows a suite whose pages are right", async () => {
  const suite = await readSuite({ cwd: join(ROOT, "docs/examples/greeter"), config: "scenarios.json" });
  const { scenarios, problems } = await loadScenarios(suite);
  expect(problems).toEqual([]);
  expect(scenarios.map(({ id }) => id)).toEqual(["install-node", "sync-changed"]);
});

it("has a page for every link from a page about scenarios", () => {
  const links = ["scenarios", "scenario-reference", "scenario-ci"].flatMap((page) =>
    [...read(`docs/${page}.md`).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = ""]) => path),
  );
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((path) => !existsSync(join(ROOT, "docs", path)))).toEqual([]);
});
