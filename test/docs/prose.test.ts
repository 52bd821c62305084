import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const DOCS = join(import.meta.dirname, "../../docs");

const pages = readdirSync(DOCS).filter((name) => name.endsWith(".md"));

it.each(pages)("%s has no sentence that a line break has made a list of", (page) => {
  const text = readFileSync(join(DOCS, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const torn = [...text.matchAll(/^(?![#|>])\S.*[a-z,]\n+1\. .*$/gm)].map(([match]) => match);
  expect(torn).toEqual([]);
});
