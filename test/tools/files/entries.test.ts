import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  entryExists,
  isDirectory,
  isFile,
  isPlainDirectory,
  isPlainFile,
} from "../../../src/tools/files/entries.ts";

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "sanddune-entries-"));
  writeFileSync(join(root, "file"), "");
  mkdirSync(join(root, "directory"));
  symlinkSync("file", join(root, "link-to-file"));
  symlinkSync("directory", join(root, "link-to-directory"));
  symlinkSync("nowhere", join(root, "broken-link"));
});

afterAll(() => rmSync(root, { recursive: true }));

it.each([
  ["file", ["entryExists", "isPlainFile", "isFile"]],
  ["directory", ["entryExists", "isPlainDirectory", "isDirectory"]],
  ["link-to-file", ["entryExists", "isFile"]],
  ["link-to-directory", ["entryExists", "isDirectory"]],
  ["broken-link", ["entryExists"]],
  ["nothing", []],
])("tells what %s is", (name, expected) => {
  const claims = { entryExists, isPlainFile, isPlainDirectory, isFile, isDirectory };
  const held = Object.entries(claims).filter(([, claim]) => claim(join(root, name)));
  expect(held.map(([claim]) => claim)).toEqual(expected);
});

it("finds neither a file nor a directory below a file", () => {
  const path = join(root, "file", "below");
  expect([isFile(path), isDirectory(path)]).toEqual([false, false]);
});
