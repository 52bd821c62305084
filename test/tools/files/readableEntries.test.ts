import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readableEntries } from "../../../src/tools/files/readableEntries.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const names = (directory: string): string[] => readableEntries(directory).map(({ name }) => name);

it("lists a directory, and nothing for one that is missing", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "file"), "");
  expect(names(directory)).toEqual(["file"]);
  expect(names(join(directory, "missing"))).toEqual([]);
});

it.skipIf(process.getuid?.() === 0)("lists nothing for one that is closed to this user", () => {
  const closed = join(temporaryDirectory(), "closed");
  mkdirSync(closed, { mode: 0 });
  expect(names(closed)).toEqual([]);
});

it("throws for a file", () => {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, "");
  expect(() => names(path)).toThrow("ENOTDIR");
});
