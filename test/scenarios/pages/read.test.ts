import { describe, expect, it } from "vitest";
import { readPage } from "../../../src/scenarios/pages/readPage.ts";

const START = "<!-- sandbox-spec:start -->";
const END = "<!-- sandbox-spec:end -->";
const MANUAL = '{ "runnable": "manual" }';
const CLI_COMMAND = ["node", "tool.mjs", "{subcommand}", "{...flags}"];

const SPEC = {
  runnable: "cli",
  fixture: "fixtures/empty",
  steps: [{ cli: "install", flags: ["--yes"] }],
  assertions: [{ file_exists: "a" }],
};

const read = (lines: readonly string[], cliCommand: readonly string[] | undefined = CLI_COMMAND) =>
  readPage("/suite/scenarios/install-twice.md", lines.join("\n"), { cliCommand });

/** A page whose JSON begins in line 4, one line for each part. */
const pageWith = (...json: string[]): string[] => ["# Title", START, "```json", ...json, "```", END];

describe("the block of a page", () => {
  it.each([
    ["in a fence", [START, "```json", MANUAL, "```", END]],
    ["in a fence without a language", [START, "", "```", MANUAL, "```", "", END]],
    ["in a long fence of tildes", [START, "~~~~ JSON", MANUAL, "~~~~", END]],
    ["without a fence", [START, MANUAL, END]],
    ["in one line", [`Text ${START}${MANUAL}${END} text`]],
    ["with other blanks in the markers", ["<!--sandbox-spec:start-->", MANUAL, "<!--  Sandbox-Spec:END -->"]],
    [
      "after markers that the prose quotes",
      [`Between \`${START}\` and \`\` ${END} \`\`:`, START, MANUAL, END],
    ],
    [
      "after markers in a code fence",
      ["````md", START, "```json", "{", "```", END, "````", START, MANUAL, END],
    ],
    [
      "around a text that looks like a marker",
      [START, '{ "runnable": "manual",', `"notes": "\\"${END}${START}" }`, END],
    ],
  ])("is found %s", (_, lines) => {
    const { scenario, problems } = read(lines);
    expect(problems).toEqual([]);
    expect(scenario?.spec.runnable).toBe("manual");
    if (lines.join().includes("notes")) expect(scenario?.spec.notes).toBe(`"${END}${START}`);
  });

  it("is found where lines end with carriage returns", () => {
    const text = ["---", "test_id: other", "---", ...pageWith(JSON.stringify(SPEC))].join("\r\n");
    const { scenario, problems } = readPage("/a.md", text, { cliCommand: CLI_COMMAND });
    expect(problems).toEqual([]);
    expect(scenario).toMatchObject({ id: "other", title: "Title", page: "/a.md", spec: SPEC });
  });

  it("can be left out: then the scenario is for people", () => {
    expect(read(["# By hand", "", "1. Look."]).scenario).toEqual({
      id: "install-twice",
      title: "By hand",
      page: "/suite/scenarios/install-twice.md",
      spec: { runnable: "manual" },
    });
  });

  it.each<[string[], number, string]>([
    [["a", START, MANUAL], 2, `the block has no ${END}`],
    [["a", "", END, START, MANUAL, END], 3, `there is no ${START} before this`],
    [[START, MANUAL, START, MANUAL, END], 3, "a page can have only one block, and it begins in line 1"],
    [[START, MANUAL, END, "", START, MANUAL, END], 5, "a page can have only one block"],
    [[START, MANUAL, END, END], 4, "a page can have only one block"],
    [["a", START, "", END], 2, "the block is empty"],
    [["a", START, "```json", "```", END], 2, "the block is empty"],
    [[START, "```yaml", "runnable: manual", "```", END], 2, "must be ```json, and is for yaml"],
    [[START, "```json", MANUAL, END], 2, "the code fence ``` is never closed"],
    [[START, "```json", MANUAL, "```", "more", END], 5, "text after the code fence"],
    [["```json", START, MANUAL, END, "```"], 2, "Put the fence between them"],
    [["a", "```sh", "ls", START, MANUAL, END], 2, "the code fence ``` is never closed"],
    [["", "<!-- sandbox-spec:begin -->", MANUAL, END], 2, "this is no marker"],
    [["", "<!-- sandbox-spec start -->", MANUAL, END], 2, "this is no marker"],
    [[START, '{ "runnable": "manual", }', END], 2, "no comma before }"],
    [["---", "id: a", START, MANUAL, END], 1, "the front matter has no end"],
  ])("is refused, with the line, if it is not clear what it is: %j", (lines, line, words) => {
    const { scenario, problems } = read(lines);
    expect(scenario).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]?.line).toBe(line);
    expect(problems[0]?.problem).toContain(words);
  });
});

describe("the id of a scenario", () => {
  it.each<[string[], string]>([
    [["# A"], "install-twice"],
    [["---", "test_id: a.b_C-1", "---"], "a.b_C-1"],
    [["---", "id: other", "---"], "other"],
    [["---", "id: other", "test_id: 'quoted' # why", "---"], "quoted"],
    [["---", 'test_id: "quoted"', "title: x: y", "head:", "  - id: nested", "---"], "quoted"],
    [["---", "test_id: plain # why", "---"], "plain"],
    [["text", "---", "test_id: other", "---"], "install-twice"],
  ])("is that of the front matter, or else the name of the file: %j", (lines, id) => {
    expect(read(lines)).toMatchObject({ id: { value: id }, scenario: { id }, problems: [] });
  });

  it.each([".hidden", "-x", "_x", "a/b", "..", "a b", "ü", "", "x".repeat(101), "Index.json", "__proto__"])(
    "has to be fit for the name of a directory: %j",
    (id) => {
      const { scenario, problems } = read(["---", "title: x", `test_id: "${id}"`, "---", START, MANUAL, END]);
      expect(scenario).toBeUndefined();
      expect(problems.map(({ line }) => line)).toEqual([3]);
      expect(problems[0]?.problem).toContain(`${JSON.stringify(id)} is not a valid scenario id`);
    },
  );

  it("has to be fit for that as the name of a file, too", () => {
    const { problems } = readPage("/suite/two words.md", "# A", {});
    expect(problems[0]?.problem).toContain("Rename the page, or set test_id in its front matter");
  });

  it("must not be given twice", () => {
    const { problems } = read(["---", "test_id: a", "test_id: b", "---"]);
    expect(problems).toMatchObject([
      { line: 3, problem: expect.stringContaining("the key test_id occurs twice") },
    ]);
  });
});

it.each([
  [["text", "## Install twice ##", "# Other"], "Install twice"],
  [["#tag", "  # C# and `code`"], "C# and `code`"],
  [["no heading"], "install-twice"],
  [["---", "# a comment", "---", "# Heading"], "Heading"],
])("takes the first heading for the title: %j", (lines, title) => {
  expect(read(lines).scenario?.title).toBe(title);
});

const json = (change: object): string[] => JSON.stringify({ ...SPEC, ...change }, undefined, 1).split("\n");

describe("what a scenario needs to be executed", () => {
  it.each<[string, object, string]>([
    ["a fixture", { fixture: undefined }, 'the key "fixture" is missing'],
    ["assertions", { assertions: undefined }, "a scenario without assertions would always pass"],
    ["one assertion at least", { assertions: [] }, "a scenario without assertions would always pass"],
  ])("is %s", (_, change, words) => {
    for (const runnable of ["cli", "agent", "both"]) {
      const { problems } = read(pageWith(...json({ ...change, runnable })));
      expect(problems).toMatchObject([{ line: 4, problem: expect.stringContaining(words) }]);
    }
    expect(read(pageWith(...json({ ...change, runnable: "manual" }))).problems).toEqual([]);
  });

  it.each([{ steps: [], prerequisites: [{ cmd: ["true"] }] }, { steps: [] }, { steps: undefined }])(
    "is no step: assertions can be about the fixture itself, %j",
    (change) => {
      for (const runnable of ["cli", "agent", "both"]) {
        expect(read(pageWith(...json({ ...change, runnable }))).problems).toEqual([]);
      }
    },
  );

  it("is no agent where it is for the command line only", () => {
    const steps = [{ cmd: ["true"] }, { agent: "install" }];
    const page = (runnable: string) => pageWith(...json({ runnable, steps }));
    expect(read(page("cli")).problems).toMatchObject([
      { problem: expect.stringMatching(/^steps\[1\]: .* runnable: cli cannot have an agent step/) },
    ]);
    expect(read(page("agent")).problems).toEqual([]);
    expect(read(page("both")).problems).toEqual([]);
  });

  it("is the suite's tool for cli steps, with a place for their flags", () => {
    const page = pageWith(...json({}));
    const without = readPage("/a.md", page.join("\n"), {});
    expect(without.problems).toMatchObject([{ problem: expect.stringContaining("set cliCommand") }]);
    expect(read(page, ["tool", "{subcommand}"]).problems).toMatchObject([
      { problem: expect.stringContaining("flags would be ignored") },
    ]);
    expect(
      read(pageWith(...json({ steps: [{ cli: "install" }] })), ["tool", "{subcommand}"]).problems,
    ).toEqual([]);
  });
});

it("says everything that is wrong with a page, each with its line", () => {
  const { scenario, problems } = read(
    pageWith(
      "{",
      '  "runnable": "cli",',
      '  "runnable": "agent",',
      '  "fixtures": "x",',
      '  "steps": [',
      '    { "cli": "install", "timeout_ms": -1 },',
      "    {",
      '      "cmd": []',
      "    }",
      "  ],",
      '  "assertions": [',
      '    { "file_exists": "../secret" },',
      '    { "file_matches": { "path": "a", "regex": "[" } },',
      '    { "exists": "a" }',
      "  ]",
      "}",
    ),
  );
  expect(scenario).toBeUndefined();
  const found = problems.map(({ line, problem }) => `${line} ${problem}`).join("\n");
  for (const expected of [
    '6 the key "runnable" occurs twice; first in line 5',
    '7 there is no key "fixtures". Did you mean "fixture"?',
    "9 steps[0].timeout_ms: must be at least 1",
    "11 steps[1].cmd: must not be empty",
    "15 assertions[0].file_exists: must be a relative path",
    "16 assertions[1].file_matches.regex: must be a regular expression",
    "17 assertions[2]: this assertion must have exactly one of",
    '4 the key "fixture" is missing',
  ])
    expect(found).toContain(expected);
  expect(problems).toHaveLength(8);
});
