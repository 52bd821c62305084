import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ReportFileError } from "../../../src/errors/commandErrors.ts";
import type { ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import { htmlReport } from "../../../src/scenarios/report/html/html.ts";
import { junitReport } from "../../../src/scenarios/report/junit.ts";
import { markdownReport } from "../../../src/scenarios/report/markdown.ts";
import { reportModel } from "../../../src/scenarios/report/model.ts";
import { checkReportFile, formatOf, writeReport } from "../../../src/scenarios/report/writeReport.ts";
import { failingRecord, minute, runRecord } from "./reportRecords.ts";

const model = (records: readonly ScenarioRecord[], title = "The first") =>
  reportModel(records, [{ id: "first", title }]);

const temporaryDirectory = (): string => {
  const path = mkdtempSync(join(tmpdir(), "sanddune-report-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
};

const made = (path: string, make: (path: string) => void): string => {
  make(path);
  return path;
};

/** What an agent could print to get out of the place that a text has. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "\"><img src=x onerror=alert(1)>'",
  "]]> --> </pre></details>",
  "\u001b]52;c;aGk=\u0007\u0000\u000b\u009b",
  "\u202egnp.exe\u2066",
  "\ud800 \uffff \ufffe",
  "| `code` **bold** [link](javascript:alert(1)) ![image](https://evil.example/x.png) $x$ @somebody",
  "https://evil.example www.evil.example",
].join("\n");

const hostileRecord = (): ScenarioRecord =>
  failingRecord({
    manifest_version: HOSTILE,
    runner: { kind: "agent", provider: HOSTILE, model: HOSTILE, sandbox: HOSTILE, host: HOSTILE },
    steps: [
      {
        name: HOSTILE,
        exit_code: 1,
        duration_ms: 1,
        stdout_tail: HOSTILE,
        stderr_tail: HOSTILE,
        tool_edits: [{ name: HOSTILE, status: "error" }],
      },
    ],
    assertions: [{ name: HOSTILE, ok: false, detail: HOSTILE }],
    notes: HOSTILE,
    ci_run: { platform: HOSTILE, url: "javascript:alert(1)" },
  });

const hostile = model([hostileRecord()], HOSTILE);

const TAG = /<(\/?)([a-zA-Z][\w-]*)(?:\s+[\w:-]+(?:="[^"<]*")?)*\s*(\/?)>/g;

/** The names of the elements, as they are closed. Throws if they do not nest, or if anything else looks like a tag. */
const elementsOf = (text: string, isVoid: (name: string) => boolean): string[] => {
  const open: string[] = [];
  const closed: string[] = [];
  for (const [tag, slash, name = "", endSlash] of text.matchAll(TAG)) {
    if (slash === "") open.push(name);
    if (slash === "" && endSlash === "" && !isVoid(name)) continue;
    if (open.pop() !== name) throw new Error(`${tag} closes nothing`);
    closed.push(name);
  }
  const rest = text.replace(TAG, "").match(/<.*|\]\]>/)?.[0];
  if (open.length > 0 || rest !== undefined)
    throw new Error(`still open: ${open.join(", ")}, or stray: ${rest}`);
  return closed;
};

const isVoidInHtml = (name: string): boolean => ["meta", "input", "br"].includes(name);
const bodyOf = (html: string): string => html.slice(html.indexOf("<body"), html.indexOf("</html>"));

it("has nothing of what agents print in a page as anything but text", () => {
  const html = htmlReport(hostile);
  const names = new Set(elementsOf(bodyOf(html), isVoidInHtml));
  for (const name of ["script", "img", "style", "iframe"]) expect(names).not.toContain(name);
  expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(bodyOf(html)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  expect(html).not.toContain('href="javascript:');
});

it("is a page that loads nothing, and runs nothing", () => {
  const html = htmlReport(model([runRecord()]));
  expect(html).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+';/);
  expect(html).not.toMatch(/<script|<link|<img|\ssrc=|url\(|@import|\sstyle=|\son[a-z]+=/);
});

it("shows what there is: results, history, rates, steps, assertions, and the CI run", () => {
  const html = htmlReport(
    model(
      [1, 2, 3].map((number) => failingRecord({ ...minute(number), repeat: { number, of: 3, go: "first" } })),
    ),
  );
  for (const text of [
    "<strong>1</strong> failing",
    'href="#scenario-first"',
    'id="scenario-first"',
    "3 of 3 failed: 100 % (95 % interval: 44 % to 100 %)",
    "2026-01-02 03:03 UTC",
    "exit 0",
    "there is nothing",
    'href="https://ci.example/runs/1" rel="noopener noreferrer"',
    "Durations of the last 3 executions",
    "v1.2.3",
  ]) {
    expect(html).toContain(text);
  }
});

it("has well-formed elements, whatever is in them", () => {
  for (const shown of [hostile, model([]), reportModel([], []), model([runRecord(), failingRecord()])]) {
    elementsOf(bodyOf(htmlReport(shown)), isVoidInHtml);
  }
});

it("stays a page that a browser can show, however many scenarios and records there are, and says what it leaves out", () => {
  const text = "x".repeat(8000);
  const steps = [1, 2, 3, 4].map((number) => ({
    name: `step ${number}`,
    exit_code: 0,
    duration_ms: 1,
    stdout_tail: text,
    stderr_tail: text,
  }));
  const names = Array.from({ length: 300 }, (_, index) => ({ id: `s${index}`, title: `S ${index}` }));
  const records = names.flatMap(({ id }, scenario) =>
    Array.from({ length: 50 }, (_, index) =>
      scenario % 10 === 0 && index === 49
        ? failingRecord({
            test_id: id,
            ...minute(index),
            assertions: [{ name: `why ${id}`, ok: false, detail: "" }],
          })
        : runRecord({ test_id: id, steps, ...minute(index) }),
    ),
  );
  const html = htmlReport(reportModel(records, names));
  expect(html.length).toBeLessThan(5_000_000);
  expect(html.match(/<[a-z]/g)?.length).toBeLessThan(100_000);
  expect(html).toContain("40 older executions are not shown.");
  // Above all, a reader wants to know why something fails.
  for (const { id } of names.filter((_, index) => index % 10 === 0)) expect(html).toContain(`why ${id}<`);
});

it("shows all of a small history", () => {
  const records = Array.from({ length: 60 }, (_, index) => runRecord(minute(index)));
  const html = htmlReport(model(records));
  expect(html).toContain("5 executions of 50 can be opened. 10 older executions are not shown.");
});

it("is XML, whatever it is told", () => {
  const xml = junitReport(hostile);
  expect(elementsOf(xml.slice(xml.indexOf("<testsuites")), () => false)).toContain("failure");
  expect(xml).not.toMatch(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
  expect(xml).not.toMatch(/&(?!amp;|lt;|gt;|quot;|#39;)/);
});

it("reports to a CI system what passed, failed and was skipped, and why", () => {
  const xml = junitReport(
    model([
      runRecord({ ...minute(2), repeat: { number: 2, of: 2, go: "first" } }),
      failingRecord({ ...minute(1), repeat: { number: 1, of: 2, go: "first" } }),
      failingRecord(minute(0)),
      runRecord({ runner: { kind: "agent", provider: "codex" }, result: "manual", notes: "no key" }),
    ]),
  );
  expect(xml).toContain('<testsuites name="scenarios" tests="3" failures="1" errors="0" time="4.500">');
  expect(xml).toContain('<testcase name="first (1 of 2)" classname="scenarios.cli" time="1.500">');
  expect(xml).toContain('<failure message="file_exists a.txt: there is nothing">');
  expect(xml).toContain('<skipped message="no key"/>');
  expect(xml).toContain("manifest_version: v1.2.3\n");
  expect(xml).toContain("\n\n# install: exit 0\ndone</system-out>");
});

it("has results only of those who execute a scenario today; the page has the history of the others below", () => {
  const runner = { kind: "agent", provider: "pi" } as const;
  const changed = reportModel(
    [failingRecord(minute(1)), runRecord({ ...minute(2), runner })],
    [{ id: "first", title: "The first", runnable: "agent" }],
  );
  const xml = junitReport(changed);
  expect(xml).toContain('tests="1" failures="0"');
  expect(xml).not.toContain("scenarios.cli");
  const markdown = markdownReport(changed);
  expect(markdown).toContain("| ✓ passing | The first (first) | agent pi |");
  expect(markdown).not.toContain("failing");
  expect(markdown).not.toContain("Why they fail");
  const html = htmlReport(changed);
  const grid = html.slice(html.indexOf('<table class="grid">'), html.indexOf("<section"));
  expect(grid).toContain("by agent pi");
  expect(grid).not.toContain("failing");
  const history = html.slice(html.indexOf("<section"));
  expect(history).toMatch(/by agent pi<\/h3>.*failing<\/span> earlier, by cli<\/h3>.*there is nothing/s);
});

it("names an agent that could not be had as it does otherwise", () => {
  const runner = { kind: "manual", provider: "pi" } as const;
  const absent = model([runRecord({ runner, result: "manual", notes: "no key" })]);
  expect(junitReport(absent)).toContain('<testsuite name="scenarios.agent pi"');
  expect(markdownReport(absent)).toContain("| ○ manual | The first (first) | agent pi |");
  expect(htmlReport(absent)).toContain("by agent pi");
  expect(htmlReport(absent)).not.toContain("by hand");
});

it("blames no step that was allowed to fail", () => {
  const steps = [{ name: "lint", exit_code: 1, duration_ms: 1, allow_nonzero: true }] as const;
  const allowed = model([failingRecord({ steps })]);
  expect(junitReport(allowed)).toContain('<failure message="file_exists a.txt: there is nothing">');
  expect(junitReport(allowed)).toContain("# lint: exit 1, allowed");
  expect(markdownReport(allowed)).not.toContain("lint");
  expect(htmlReport(allowed)).toContain('<td class="number">exit 1, allowed</td>');
});

it("blames a step that was not", () => {
  const failed = model([failingRecord({ steps: [{ name: "lint", exit_code: 1, duration_ms: 1 }] })]);
  expect(junitReport(failed)).toContain('<failure message="lint: exit code 1">');
  expect(htmlReport(failed)).toContain('<td class="number failing">exit 1</td>');
});

it("counts one as one", () => {
  const html = htmlReport(
    model([
      runRecord({
        steps: [
          { name: "ask", exit_code: 0, duration_ms: 1, tool_edits: [{ name: "Edit", status: "completed" }] },
        ],
      }),
    ]),
  );
  for (const text of ["1 scenario, 1 execution.", "1 tool call: Edit"]) expect(html).toContain(text);
});

it("is a table of Markdown, with the reasons of failures below", () => {
  const markdown = markdownReport(model([failingRecord()]));
  expect(markdown).toContain("## Scenarios: 1 failing");
  expect(markdown).toContain(
    "| ✗ failing | The first (first) | cli | 1.5 s |  | v1.2.3 | [CI run](<https://ci.example/runs/1>) |",
  );
  expect(markdown).toContain("- **first** by cli\n  - file\\_exists a.txt: there is nothing\n");
});

it("has nothing in Markdown that could be more than text", () => {
  const markdown = markdownReport(hostile);
  const rows = markdown.split("\n").filter((line) => line.startsWith("| ✗"));
  expect(rows).toHaveLength(1);
  expect(rows[0]?.match(/(?<!\\)\|/g)).toHaveLength(8);
  const told = markdown.replace("<!-- sanddune scenario report -->", "").replaceAll("**first**", "");
  expect(told).not.toMatch(/(?<!\\)(?:\\\\)*[`*[$@]|[<]|https?:\/\/|www\./);
});

it("has the errors of the runner in every format, with or without a verdict beside them", () => {
  const problems = [{ subject: "pages/a.md:7", message: `the fixture is missing ${HOSTILE}` }];
  for (const shown of [
    reportModel([], [], problems),
    reportModel([runRecord()], [{ id: "first", title: "The first" }], problems),
  ]) {
    const tests = shown.executions + 1;
    const xml = junitReport(shown);
    expect(xml).toContain(`<testsuites name="scenarios" tests="${tests}" failures="0" errors="1"`);
    expect(xml).toMatch(
      /<testcase name="pages\/a\.md:7" classname="scenarios\.runner" time="0\.000"><error message="the fixture/,
    );
    elementsOf(xml.slice(xml.indexOf("<testsuites")), () => false);
    const markdown = markdownReport(shown);
    expect(markdown).toMatch(/^## Scenarios: .*1 error$/m);
    expect(markdown).toContain("### Errors of the runner\n\n- **pages/a.md:7**: the fixture is missing");
    const html = htmlReport(shown);
    expect(html).toMatch(/<title>1 error: Scenario report<\/title>/);
    expect(html).toContain("<strong>pages/a.md:7</strong>");
    elementsOf(bodyOf(html), isVoidInHtml);
  }
});

it("has tokens, and notes of the page and of the execution, in every format", () => {
  const usage = {
    ...{ inputTokens: 1000, cacheCreationInputTokens: 200 },
    ...{ cacheReadInputTokens: 30_000, outputTokens: 456 },
  };
  const agent = runRecord({
    runner: { kind: "agent", provider: "pi" },
    notes: "check.mjs was put back",
    steps: [1, 2].map((number) => ({ name: `ask ${number}`, exit_code: 0, duration_ms: 1, usage })),
  });
  const shown = reportModel([agent], [{ id: "first", title: "The first", notes: "Needs a network." }]);
  const told = "62,400 tokens in (60,000 cached), 912 out";
  const markdown = markdownReport(shown);
  expect(markdown).toContain("| 1.5 s | 63,312 | v1.2.3 |");
  expect(markdown).toContain(
    "### Notes\n\n- **first**: Needs a network.\n- **first**: check.mjs was put back\n",
  );
  expect(junitReport(shown)).toContain(
    `usage: ${told}\nnotes of the page: Needs a network.\nnotes: check.mjs was put back\n`,
  );
  const html = htmlReport(shown);
  for (const text of ["63,312 tokens", "31,200 tokens in", "Needs a network.", "check.mjs was put back"]) {
    expect(html).toContain(text);
  }
});

it("does not repeat the reasons of a failure, nor the page's notes, among the notes", () => {
  const notes = "failed assertions:\n  file_exists a.txt: there is nothing\nPage says so.";
  const name = { id: "first", title: "The first", notes: "Page says so." };
  const markdown = markdownReport(reportModel([failingRecord({ notes })], [name]));
  expect(markdown).toContain("### Notes\n\n- **first**: Page says so.\n");
  expect(markdown.match(/Page says so/g)).toHaveLength(1);
});

it.each([
  ["report.html", "html"],
  ["junit.XML", "junit"],
  ["summary.md", "markdown"],
  ["report.pdf", undefined],
])("takes the format of %s from its name", (file, format) => {
  expect(formatOf(file)).toBe(format);
});

it("replaces a report with a newer one, and leaves nothing else behind", async () => {
  const directory = temporaryDirectory();
  for (const name of ["sub/a.html", "sub/a.xml", "sub/a.md"]) {
    await writeReport(model([]), join(directory, name));
    await writeReport(model([runRecord()]), join(directory, name));
    expect(readFileSync(join(directory, name), "utf8")).toContain("v1.2.3");
  }
  expect(readdirSync(join(directory, "sub")).sort()).toEqual(["a.html", "a.md", "a.xml"]);
});

it("does not replace a file that is not a report", async () => {
  const file = join(temporaryDirectory(), "README.md");
  writeFileSync(file, "# Mine\n");
  const writing = writeReport(model([]), file);
  await expect(writing).rejects.toThrow(ReportFileError);
  await expect(writing).rejects.toThrow(/README\.md was not written, and nothing was changed/);
  expect(readFileSync(file, "utf8")).toBe("# Mine\n");
});

/** Each makes something in the directory, and names the report that it is in the way of. */
const IN_THE_WAY: readonly (readonly [string, (directory: string) => string, RegExp])[] = [
  [
    "a directory",
    (directory) => made(join(directory, "a.html"), (path) => mkdirSync(path)),
    /it is a directory/,
  ],
  [
    "a pipe without a writer",
    (directory) => made(join(directory, "a.xml"), (path) => execFileSync("mkfifo", [path])),
    /something that is not a file/,
  ],
  [
    "a link to a device",
    (directory) => made(join(directory, "a.md"), (path) => symlinkSync("/dev/zero", path)),
    /something that is not a file/,
  ],
  [
    "a file of somebody else's",
    (directory) => made(join(directory, "a.md"), (path) => writeFileSync(path, "# Mine")),
    /not a report of sanddune/,
  ],
  [
    "a file where its directory should be",
    (directory) =>
      join(
        made(join(directory, "sub"), (path) => writeFileSync(path, "")),
        "deep/a.md",
      ),
    /not a directory/,
  ],
  ["a name that asks for no format", (directory) => join(directory, "a.pdf"), /does not end in/],
];

it.each(IN_THE_WAY)(
  "refuses %s before and when it writes, and changes nothing",
  async (_, prepare, reason) => {
    const directory = temporaryDirectory();
    const file = prepare(directory);
    const before = readdirSync(directory);
    for (const attempt of [() => checkReportFile(file), () => writeReport(model([]), file)]) {
      const refused = attempt();
      await expect(refused).rejects.toThrow(ReportFileError);
      await expect(refused).rejects.toThrow(reason);
    }
    expect(readdirSync(directory)).toEqual(before);
  },
);

it("makes nothing when it only finds out whether a report can be written", async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "empty.md"), "");
  await writeReport(model([]), join(directory, "earlier.html"));
  for (const name of ["empty.md", "earlier.html", "new/deep/a.xml"])
    await checkReportFile(join(directory, name));
  await checkReportFile(join(directory, "a.txt"), "markdown");
  expect(readdirSync(directory).sort()).toEqual(["earlier.html", "empty.md"]);
});
