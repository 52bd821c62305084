import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const DOCS = join(ROOT, "docs");

/** It quotes the titles of tests, and is generated. */
const GENERATED = "behaviours.md";

const pages = readdirSync(DOCS).filter((name) => name.endsWith(".md"));

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const sourcesIn = (directory: string): string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(directory, name));

/** Words that a reader has to look up, and the plain ones to write instead. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bdoors?\b/gi, "entry point"],
  [/\bwhoever\b/gi, "name the person or the program"],
  [/\b(some|no|every|any)body\b/gi, "name the person or the program"],
  [/\b(brought|brings?|comes?|came|coming) home\b/gi, "import"],
  [/\b(cannot|can|could|to) be had\b/gi, "is (not) available"],
  [/\bKnown are\b/g, "expected one of"],
  [/\bthat is none\b/gi, "is not a …"],
  [/\bof the (host|agent|user)'s(?=[.,;:)]| (?!own)(that|which|and|or|is|are|was|in)\b)/gi, "of the host"],
  [/\bworkspaces?\b/gi, "worktree or sandbox"],
  [/\b(is|are|was|were) told\b/gi, "is reported"],
  [/\b(goes|went|going) on\b/gi, "continues"],
  [/\bgot ready\b/gi, "prepared"],
  [/\blast words\b/gi, "last output"],
  [/\b(is|are|not|lets it) let in\b|\blets it in\b/gi, "credentials"],
  [/\bmend\b/gi, "fix"],
  [/\blast call\b/gi, "deadline warning"],
  [/\bcouriers?\b/gi, "test proxy"],
  [/\b(workshops?|workplaces?|surroundings|circumstances)\b/gi, "a word of the glossary"],
];

/** The lines of a text with such words, each with the words to write instead. */
const unclearLines = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line, index) =>
      PLAIN_WORDS.flatMap(([pattern, instead]) =>
        (line.match(pattern) ?? []).map((words) => `${index + 1}: "${words}": ${instead}`),
      ),
    );

it.each(pages)("%s has no sentence that a line break turns into a list", (page) => {
  const text = readFileSync(join(DOCS, page), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const torn = [...text.matchAll(/^(?![#|>])\S.*[a-z,]\n+1\. .*$/gm)].map(([match]) => match);
  expect(torn).toEqual([]);
});

/** Items of a list that a line break in the wrong place has joined: `… the end. - **The next one**`. */
const joinedItems = (text: string): string[] =>
  text
    .replace(/^```[\s\S]*?^```/gm, "")
    .split("\n")
    .filter((line) => !/^\s*\||^ {4}/.test(line))
    .filter((line) => /\S -( (\*\*|\[|[A-Z`])|$)|[.;:] - \S|\. \d+\. [A-Z`]/.test(line));

it("finds items of a list that are joined", () => {
  expect(joinedItems("- One. - **Two.** A")).toHaveLength(1);
  expect(joinedItems("- One. -\n  **Two.**")).toHaveLength(1);
  expect(joinedItems("1. One. 2. Two.")).toHaveLength(1);
  expect(joinedItems("- One - or two.\n- **Three.**\n\n```sh\ngit switch - A\n```")).toEqual([]);
});

it.each([
  "README.md",
  "SECURITY.md",
  "CONTEXT.md",
  "CONTRIBUTING.md",
  ...pages.map((page) => `docs/${page}`),
])("%s has no two items of a list in one line", (path) => {
  expect(joinedItems(read(path))).toEqual([]);
});

it("finds words that have to be looked up", () => {
  expect(unclearLines("The door is closed.\nKnown are: a, b")).toEqual([
    '1: "door": entry point',
    '2: "Known are": expected one of',
  ]);
});

it.each([
  "README.md",
  "SECURITY.md",
  ...pages.filter((page) => page !== GENERATED).map((page) => `docs/${page}`),
])("%s uses plain words", (path) => {
  expect(unclearLines(read(path))).toEqual([]);
});

it("the glossary uses plain words, except where it says what to avoid", () => {
  expect(unclearLines(read("CONTEXT.md").replace(/^_Avoid:_[\s\S]*?(?=\n\n)/gm, ""))).toEqual([]);
});

it.each([...sourcesIn("src/errors"), ...sourcesIn("src/cli")])(
  "help and messages in %s use plain words",
  (path) => {
    expect(unclearLines(read(path))).toEqual([]);
  },
);
