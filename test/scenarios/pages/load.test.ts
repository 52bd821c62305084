import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ScenarioConfigError } from "../../../src/errors.ts";
import { loadScenarios } from "../../../src/scenarios/pages/loadScenarios.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

const load = (scenarioDir: string) =>
  loadScenarios({ root: scenarioDir, scenarioDir, fixturesRoot: scenarioDir, recordsDir: scenarioDir });

const pages = (texts: Readonly<Record<string, string | Uint8Array>>): string => {
  const directory = temporaryDirectory();
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(directory, name), text);
  return directory;
};

it("reads all pages of a directory in the order of their ids, and nothing else", async () => {
  const directory = pages({
    "b.md": "# B",
    "a.md": "---\ntest_id: z\n---\n# A",
    "C.md": "# C",
    "index.md": "# All of them",
    "README.md": "# About",
    "notes.txt": "no page",
  });
  mkdirSync(join(directory, "more"));
  writeFileSync(join(directory, "more/d.md"), "# D");
  writeFileSync(join(directory, "more/index.md"), "# More of them");
  mkdirSync(join(directory, ".hidden"));
  writeFileSync(join(directory, ".hidden/e.md"), "# E");
  mkdirSync(join(directory, "more/node_modules/pkg"), { recursive: true });
  writeFileSync(join(directory, "more/node_modules/pkg/f.md"), "# F");
  const { scenarios, problems } = await load(directory);
  expect(problems).toEqual([]);
  expect(scenarios.map(({ id, title }) => [id, title])).toEqual([
    ["C", "C"],
    ["b", "B"],
    ["d", "D"],
    ["z", "A"],
  ]);
  expect(scenarios[3]?.page).toBe(join(directory, "a.md"));
});

it("continues after a bad page, and reports its mistakes", async () => {
  const directory = pages({
    "bad.md": "# Bad\n<!-- sandbox-spec:start -->\n{",
    "good.md": "# Good",
    "worse.md": "<!-- sandbox-spec:start -->\n\n{]\n<!-- sandbox-spec:end -->",
  });
  const { scenarios, problems } = await load(directory);
  expect(scenarios.map(({ id }) => id)).toEqual(["good"]);
  expect(problems.map(({ page, line }) => [page, line])).toEqual([
    [join(directory, "bad.md"), 2],
    [join(directory, "worse.md"), 3],
  ]);
});

it("knows the ids of all pages, the bad ones as well, in their order", async () => {
  const directory = pages({
    "z.md": "# Good",
    "named.md": "---\ntest_id: by-front-matter\n---\n<!-- sandbox-spec:start -->",
    "by-file.md": "<!-- sandbox-spec:start -->\n{]\n<!-- sandbox-spec:end -->",
    "unended.md": "---\ntest_id: unknown",
    "binary.md": new Uint8Array([0xff]),
    "twin.md": "---\ntest_id: z\n---",
    "no id.md": "# No id",
    "index.md": "# All of them",
  });
  const { ids, scenarios } = await load(directory);
  expect(scenarios).toEqual([]);
  expect(ids).toEqual(["binary", "by-file", "by-front-matter", "unended", "z"]);
});

it("takes neither of two pages that have the same id, in whatever case", async () => {
  const directory = pages({
    "a.md": "---\ntitle: x\ntest_id: Same\n---",
    "other.md": "# Other",
    "same.md": "# Same, and <!-- sandbox-spec:end -->",
  });
  const { scenarios, problems } = await load(directory);
  expect(scenarios.map(({ id }) => id)).toEqual(["other"]);
  expect(problems).toMatchObject([
    { page: join(directory, "a.md"), line: 3, problem: expect.stringContaining(join(directory, "same.md")) },
    { page: join(directory, "same.md"), line: 1, problem: expect.stringContaining(join(directory, "a.md")) },
    { page: join(directory, "same.md"), line: 1, problem: expect.stringContaining("sandbox-spec:start") },
  ]);
});

it("follows no link and waits for no pipe, and reads nothing that is too large or no text", async () => {
  const outside = pages({ "secret.md": "# Secret" });
  const directory = pages({
    "large.md": "x".repeat(1024 * 1024 + 1),
    "binary.md": new Uint8Array([0x23, 0x20, 0xff, 0xfe]),
    "marked.md": "\ufeff---\ntest_id: with-mark\n---\n# Marked",
  });
  symlinkSync(join(outside, "secret.md"), join(directory, "link.md"));
  symlinkSync(join(directory, "nowhere"), join(directory, "loose.md"));
  symlinkSync(outside, join(directory, "linked"));
  execFileSync("mkfifo", [join(directory, "pipe.md")]);
  const { scenarios, problems } = await load(directory);
  expect(scenarios.map(({ id }) => id)).toEqual(["with-mark"]);
  expect(problems.map(({ page, problem }) => [page.slice(directory.length + 1), problem])).toEqual([
    ["binary.md", "it is not UTF-8"],
    ["large.md", "it is larger than 1 MiB"],
    ["link.md", "it is a symbolic link, and those are not followed"],
    ["loose.md", "it is a symbolic link, and those are not followed"],
    ["pipe.md", "it is not a regular file"],
  ]);
});

it("reads a line of any number of backticks in one pass, and knows what it quotes", async () => {
  const backticks = Array.from({ length: 800 }, (_, index) => "`".repeat(index + 1)).join(" ");
  const quoted = "``a ` <!-- sandbox-spec:start -->`` and `` ``` <!-- sandbox-spec:start --> `` as well";
  const directory = pages({ "many.md": `# Many\n${backticks}\n`, "quoted.md": `# Quoted\n${quoted}\n` });
  const { scenarios, problems } = await load(directory);
  expect(problems).toEqual([]);
  expect(scenarios.map(({ id, spec }) => [id, spec.runnable])).toEqual([
    ["many", "manual"],
    ["quoted", "manual"],
  ]);
});

it("limits the number and length of a page's problems", async () => {
  const keys = Object.fromEntries(Array.from({ length: 30 }, (_, index) => ["k".repeat(2000) + index, 1]));
  const directory = pages({
    "bad.md": `<!-- sandbox-spec:start -->\n${JSON.stringify(keys)}\n<!-- sandbox-spec:end -->`,
  });
  const { problems } = await load(directory);
  expect(problems).toHaveLength(21);
  expect(problems.at(-1)?.problem).toMatch(/^\d+ more problems follow$/);
  for (const { problem } of problems) expect(problem.length).toBeLessThan(510);
});

it("says so if the directory cannot be read", async () => {
  await expect(load(join(temporaryDirectory(), "missing"))).rejects.toThrow(ScenarioConfigError);
});

it.each([
  ["markers", "<!-- sandbox-spec".repeat(60_000)],
  ["quotes", `<!-- sandbox-spec:start -->\n"${'\\"'.repeat(500_000)}`],
  ["backquotes", "` ``".repeat(250_000)],
  ["headings", `# ${"#".repeat(1_000_000)}x`],
  ["brackets", `<!-- sandbox-spec:start -->\n${"[".repeat(1_000_000)}\n<!-- sandbox-spec:end -->`],
])("reads a page of nothing but %s to its end", async (_, text) => {
  const { scenarios, problems } = await load(pages({ "a.md": text }));
  expect(scenarios.length + problems.length).toBe(1);
});
