import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

it("says of every directory of the sources what it holds", () => {
  const page = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const rooms = readdirSync(join(ROOT, "src"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}/`);
  expect(rooms.length).toBeGreaterThan(10);
  expect([...rooms, "schemas/"].filter((room) => !page.includes(`\`${room}\``))).toEqual([]);
});
