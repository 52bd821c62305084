import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failingRecord, runRecord } from "../../scenarios/report/reportRecords.ts";
import { runCli } from "../callCli.ts";
import type { CliResult } from "../startCli.ts";

let cwd: string;

const write = (path: string, text: string): void => {
  mkdirSync(join(cwd, path, ".."), { recursive: true });
  writeFileSync(join(cwd, path), text);
};

const pageOf = (title: string, spec: object): string =>
  `# ${title}\n\n<!-- sandbox-spec:start -->\n${JSON.stringify(spec)}\n<!-- sandbox-spec:end -->\n`;

const report = (...args: readonly string[]): Promise<CliResult> =>
  runCli(["scenario", "report", ...args], { cwd });

/** A suite of two scenarios, one of which was executed. */
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "sanddune-report-"));
  write(
    ".sanddune/scenarios.json",
    JSON.stringify({ scenarioDir: "../pages", fixturesRoot: "..", recordsDir: "../runs" }),
  );
  mkdirSync(join(cwd, "fixture"));
  write("pages/first.md", pageOf("The first", { runnable: "manual", notes: "by hand" }));
  write("pages/second.md", pageOf("The second", { runnable: "manual", notes: "by hand" }));
  write("runs/first/2026-01-02T03-04-05-000Z.json", JSON.stringify(failingRecord()));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

it("writes a page with all results to the path that it prints", async () => {
  const { exitCode, stdout, stderr } = await report();
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "scenario-report.html\n", stderr: "" });
  const html = readFileSync(join(cwd, "scenario-report.html"), "utf8");
  for (const text of ["The first", "there is nothing", "The second", "never run"])
    expect(html).toContain(text);
});

it("writes several files, each as its name asks, and prints Markdown for a summary", async () => {
  const { exitCode, stdout } = await report("--output", "ci/junit.xml", "--output", "-");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("| ✗ failing | The first (first) | cli |");
  expect(readFileSync(join(cwd, "ci/junit.xml"), "utf8")).toContain('failures="1"');
  expect(existsSync(join(cwd, "scenario-report.html"))).toBe(false);
});

it("leaves out files that are not records, and reports them", async () => {
  write("runs/first/2.json", '{"schema":');
  write("runs/second/1.json", JSON.stringify({ ...runRecord({ test_id: "second" }), steps: [null] }));
  const { exitCode, stdout, stderr } = await report("--output", "-");
  expect(exitCode).toBe(0);
  expect(stdout).toContain("## Scenarios: 1 failing, 1 never run");
  expect(stderr.match(/^Left out: .*(first\/2|second\/1)\.json/gm)).toHaveLength(2);
});

it("reports the other scenarios if one page is bad, and exits with 2", async () => {
  write("pages/second.md", pageOf("The second", { runnable: "sometimes" }));
  const { exitCode, stdout, stderr } = await report("--output", "-");
  expect(exitCode).toBe(2);
  expect(stdout).toContain("The first");
  expect(stderr).toMatch(/pages\/second\.md:\d+: /);
});

it.each([
  [["--output", "report.pdf"], "does not end in .html, .xml or .md"],
  [["--format", "pdf"], "expected one of: html, junit, markdown"],
])("refuses %j before anything is written", async (args, reason) => {
  const { exitCode, stderr } = await report(...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(reason);
  expect(existsSync(join(cwd, "report.pdf"))).toBe(false);
});

it("does not replace a foreign file", async () => {
  write("README.md", "# Mine\n");
  const { exitCode, stderr } = await report("--output", "README.md");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("README.md was not written");
  expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("# Mine\n");
});

it("neither waits for a pipe nor reads any records for a report that cannot be written", async () => {
  execFileSync("mkfifo", [join(cwd, "pipe.html")]);
  write("runs/first/2.json", '{"schema":');
  const { exitCode, stderr } = await report("--output", "pipe.html");
  expect(exitCode).toBe(2);
  expect(stderr).toContain("pipe.html was not written");
  expect(stderr).not.toContain("Left out");
});
