import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as commandErrors from "../../src/errors/commandErrors.ts";
import * as errors from "../../src/errors.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SOURCES = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => read(`src/${name}`))
  .join("\n");

const classes = Object.entries({ ...errors, ...commandErrors })
  .filter(([, value]) => typeof value === "function" && value.prototype instanceof errors.SandduneError)
  .map(([name]) => name);

it("describes every error class", () => {
  const page = read("docs/errors.md");
  expect(classes.length).toBeGreaterThan(0);
  expect(classes.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

/** What stands as a message in the first column, in the pieces that do not vary. */
const quotations = [...read("docs/troubleshooting.md").matchAll(/^\| (`[^|]*)\|/gm)]
  .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = ""]) => message))
  .filter((message) => !message.startsWith("[redacted"))
  .flatMap((message) => message.split("…").map((piece) => piece.trim()))
  .filter((piece) => /\w/.test(piece));

it("quotes messages of the sources in the page about troubleshooting", () => {
  expect(quotations.length).toBeGreaterThan(20);
  expect(quotations.filter((piece) => !SOURCES.includes(piece))).toEqual([]);
});
