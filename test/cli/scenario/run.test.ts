import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtCli } from "../../helpers/built.ts";
import { startTerminal } from "../../helpers/processes/terminal.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  FAILING,
  makeSuite,
  pageOf,
  recordOf,
  recordsOf,
  resultsIn,
  runScenarios,
  type SuiteParts,
  sh,
  spec,
} from "./scenarioSuites.ts";

useOwnTemporaryDirectory();

const MANUAL = { runnable: "manual", notes: "Look at the screen." } as const;
const NO_RESULTS = {};

interface Ending {
  readonly when: string;
  readonly suite: SuiteParts;
  readonly flags?: readonly string[];
  readonly exitCode: number;
  readonly results: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

const ENDINGS: readonly Ending[] = [
  {
    when: "all are passing or manual",
    suite: { pages: { good: spec(), hand: MANUAL } },
    flags: ["--runnable", "any"],
    exitCode: 0,
    results: { good: "passing", hand: "manual" },
    says: /1 passing, 0 failing, 1 manual/,
  },
  {
    when: "one is failing",
    suite: { pages: { good: spec(), wrong: FAILING } },
    exitCode: 1,
    results: { good: "passing", wrong: "failing" },
    says: /file_exists: missing\.txt: nothing is there/,
  },
  {
    when: "a page cannot be read, whatever the others come to",
    suite: { pages: { bad: pageOf({ runnable: "cli", stepz: [] }), good: spec(), wrong: FAILING } },
    exitCode: 2,
    results: { good: "passing", wrong: "failing" },
    says: /scenarios\/bad\.md:4: .*stepz/,
  },
  {
    when: "a scenario has no assertions",
    suite: { pages: { good: spec(), vain: spec({ assertions: [] }) } },
    exitCode: 2,
    results: { good: "passing" },
    says: /scenarios\/vain\.md:\d+: .*without assertions/,
  },
  {
    when: "a fixture is missing",
    suite: { pages: { good: spec(), lost: spec({ fixture: "fixtures/none" }) } },
    exitCode: 2,
    results: { good: "passing" },
    says: /lost: The fixture "fixtures\/none" cannot be used: there is no /,
  },
  {
    when: "nothing is selected",
    suite: { pages: { good: spec() } },
    flags: ["--runnable", "agent"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /No scenario is selected: --runnable is agent, and the suite has 1 for cli\. To execute them: .*scenario run --runnable any/,
  },
  {
    when: "what is named is for others",
    suite: { pages: { good: spec(), hand: MANUAL, other: MANUAL, bad: pageOf({}) } },
    flags: ["--runnable", "cli", "--only", "hand,other"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /No scenario is selected: --runnable is cli, and --only hand,other names 2 for manual\. .*--only=hand,other/,
  },
  {
    when: "there is nothing for the default",
    suite: { pages: { hand: MANUAL } },
    exitCode: 2,
    results: NO_RESULTS,
    says: /--runnable is cli \(the default\), and the suite has 1 for manual/,
  },
  {
    when: "the only page that is meant has a mistake, whatever its file is called",
    suite: {
      pages: { good: spec(), odd: `---\ntest_id: meant\n---\n${pageOf({ ...spec(), runnable: "nobody" })}` },
    },
    flags: ["--only", "meant"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /scenarios\/odd\.md:\d+: /,
  },
  {
    when: "an id is not known",
    suite: { pages: { good: spec() } },
    flags: ["--only", "good,godo"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /there is no scenario godo/,
  },
  {
    when: "no id is named",
    suite: { pages: { good: spec() } },
    flags: ["--only="],
    exitCode: 2,
    results: NO_RESULTS,
    says: /'--only <ids>' argument '' is invalid\. It is empty/,
  },
  {
    when: "the directory is none",
    suite: { pages: { good: spec() } },
    flags: ["/dev/null"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /\/dev\/null.*it is not a directory/,
  },
  {
    when: "a flag is not known",
    suite: { pages: { good: spec() } },
    flags: ["--onyl=good"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /unknown option '--onyl=good'/,
  },
  {
    when: "an address is none",
    suite: { pages: { good: spec() } },
    flags: ["--ci", "javascript:alert(1)"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /--ci: "javascript:alert\(1\)" is not an address/,
  },
  {
    when: "a report has no known ending",
    suite: { pages: { good: spec() } },
    flags: ["--report", "report.pdf"],
    exitCode: 2,
    results: NO_RESULTS,
    says: /report\.pdf was not written.*its name does not end in \.html, \.xml or \.md/,
  },
  {
    when: "the config file has a key that means nothing",
    suite: { pages: { good: spec() }, settings: { fixtureRoot: ".." } },
    exitCode: 2,
    results: NO_RESULTS,
    says: /scenarios\.json:1: .*fixtureRoot/,
  },
  {
    when: "the config file is no JSON",
    suite: { pages: { good: spec() }, files: { ".sanddune/scenarios.json": "{\n  half\n" } },
    exitCode: 2,
    results: NO_RESULTS,
    says: /scenarios\.json:2: /,
  },
];

test.each(ENDINGS.map((ending) => [ending.exitCode, ending.when, ending] as const))(
  "The exit code is %i when %s",
  async (exitCode, _, { suite, flags, results, says }) => {
    const cwd = makeSuite(suite);
    const result = await runScenarios(cwd, flags);
    expect(result).toMatchObject({ exitCode });
    expect(result.stdout + result.stderr).toMatch(says);
    expect(resultsIn(cwd)).toEqual(results);
  },
);

test("An env var that cannot be used is named as it is written", async () => {
  const cwd = makeSuite({ pages: { a: spec({ runnable: "agent", steps: [{ agent: "install" }] }) } });
  const env = { SANDDUNE_AGENT_TIMEOUT_MS: "soon" };
  const { exitCode, stderr } = await runScenarios(cwd, ["--runnable=agent"], { env });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(/^error: SANDDUNE_AGENT_TIMEOUT_MS: /),
  });
});

test.each([
  ["docker", "Use --network host, or --base-url "],
  ["e2b", "cannot reach. Use --base-url "],
  ["vercel", "cannot reach. Use --base-url "],
  ["modal", "cannot reach. Use --base-url "],
  ["kubernetes", "cannot reach. Use --base-url "],
])("A mirror that sandboxes of %s cannot reach is refused, with what would help", async (sandbox, help) => {
  const cwd = makeSuite({
    pages: { a: spec({ steps: [{ cli: "install" }] }) },
    files: { "mirror/index.html": "" },
    settings: {
      mirrorDir: "../mirror",
      cliCommand: ["node", "../bin/tool.mjs", "{subcommand}", "--from={baseUrl}"],
    },
  });
  const { exitCode, stderr } = await runScenarios(cwd, ["--sandbox", sandbox]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(help) });
});

test("A mirror that no selected scenario uses is not started", async () => {
  const cwd = makeSuite({
    pages: { a: spec(), b: spec({ steps: [{ cli: "install" }] }) },
    files: { "mirror/index.html": "" },
    settings: {
      mirrorDir: "../mirror",
      cliCommand: ["node", "../bin/tool.mjs", "{subcommand}", "--from={baseUrl}"],
    },
  });
  expect(await runScenarios(cwd, ["--only=a"])).toMatchObject({ exitCode: 0, stderr: "" });
  const { stderr } = await runScenarios(cwd);
  expect(stderr).toMatch(/^Local mirror: http:\/\/127\.0\.0\.1:\d+$/m);
});

test("The last output of a failing step is shown apart from the assertions, and names make one column", async () => {
  const cwd = makeSuite({
    pages: {
      long: spec({ runnable: "both", steps: [sh("echo words; echo more >&2; exit 3")] }),
      a: FAILING,
    },
  });
  const { stdout } = await runScenarios(cwd, ["--repeat=2"]);
  const lines = stdout.split("\n");
  expect(lines).toContain("    last output of the failed step:");
  expect(lines[lines.indexOf("    last output of the failed step:") + 1]).toBe("      more");
  const columns = lines.filter((line) => line.startsWith("✗ ")).map((line) => line.indexOf("  failing "));
  expect(columns).toHaveLength(4);
  expect(new Set(columns).size).toBe(1);
});

const OF_EACH_KIND = {
  cli: spec(),
  agent: spec({ runnable: "agent", ide_platform: "aider", steps: [{ agent: "install" }] }),
  both: spec({ runnable: "both", ide_platform: "aider", steps: [{ agent: "install" }] }),
  manual: MANUAL,
};

test.each([
  [[], { cli: "passing", both: "passing" }],
  [["--runnable=agent"], { agent: "manual", both: "manual" }],
  [["--runnable=both"], { both: "passing" }],
  [["--runnable=any"], { cli: "passing", agent: "manual", both: "passing", manual: "manual" }],
  [["--only=agent", "--only=both", "--runnable=cli"], { both: "passing" }],
])("%j executes those that it means, without an agent", async (flags, results) => {
  const cwd = makeSuite({ pages: OF_EACH_KIND });
  expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: 0 });
  expect(resultsIn(cwd)).toEqual(results);
});

/** Ends well only if the others are there at the same time. */
const meeting = (directory: string, own: string, other: string, timeoutMs: number) =>
  spec({
    steps: [
      {
        ...sh(`: > ${directory}/${own}; until [ -e ${directory}/${other} ]; do sleep 0.02; done`),
        timeout_ms: timeoutMs,
      },
    ],
  });

test("As many scenarios as concurrency says are executed side by side", async () => {
  const place = temporaryDirectory();
  const cwd = makeSuite({
    pages: { a: meeting(place, "a", "b", 50_000), b: meeting(place, "b", "a", 50_000) },
  });
  expect(await runScenarios(cwd, ["--concurrency", "2"])).toMatchObject({ exitCode: 0 });
});

test("With a concurrency of one, the first waits for the second in vain", async () => {
  const place = temporaryDirectory();
  const cwd = makeSuite({ pages: { a: meeting(place, "a", "b", 200), b: meeting(place, "b", "a", 50_000) } });
  expect(await runScenarios(cwd, ["--concurrency", "1"])).toMatchObject({ exitCode: 1 });
  expect(resultsIn(cwd)).toEqual({ a: "failing", b: "passing" });
  expect(recordOf(cwd, "a").steps.at(-1)?.exit_code).toBe(124);
});

test("Twelve agents at a time make Node.js warn of nothing", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const ids = Array.from({ length: 12 }, (_, index) => `a${index}`);
  const cwd = makeSuite({
    pages: Object.fromEntries(ids.map((id) => [id, spec({ runnable: "agent", steps: [{ agent: "wait" }] })])),
  });
  const here = temporaryDirectory();
  // None of them is over before all are there.
  const waits = `touch ${here}/$$; while [ $(ls ${here} | wc -l) -lt ${ids.length} ]; do sleep 0.1; done`;
  const flags = ["--runnable=agent", "--sandbox=none", "--concurrency=12", "--agent-command", waits];
  expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: 0 });
  expect(warnings).toEqual([]);
});

test("Repeated executions are numbered, and the newest records are kept", async () => {
  const cwd = makeSuite({ pages: { a: spec(), other: spec() } });
  await runScenarios(cwd, ["--only=other"]);
  expect(await runScenarios(cwd, ["--only=a", "--repeat=3"])).toMatchObject({ exitCode: 0 });
  const numbers = recordsOf(cwd, "a").map(({ repeat }) => `${repeat?.number} of ${repeat?.of}`);
  expect(numbers.sort()).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
  await runScenarios(cwd, ["--only=a", "--keep=2"]);
  const kept = recordsOf(cwd, "a");
  expect(kept.map(({ repeat }) => repeat === undefined)).toEqual([false, true]);
  expect(recordsOf(cwd, "other")).toHaveLength(1);
});

test("However few records are kept, those of one suite run stay together", async () => {
  const cwd = makeSuite({ pages: { a: spec() } });
  await runScenarios(cwd);
  await runScenarios(cwd, ["--repeat=3", "--keep=2"]);
  expect(recordsOf(cwd, "a").map(({ repeat }) => repeat?.number)).toHaveLength(3);
  expect(recordsOf(cwd, "a").every(({ repeat }) => repeat?.of === 3)).toBe(true);
});

test("Reports are written in the format of their names, and replace nothing but reports", async () => {
  const cwd = makeSuite({ pages: { good: spec(), wrong: FAILING } });
  const reports = ["out/report.html", "junit.xml", "summary.md"];
  const flags = reports.flatMap((file) => ["--report", file]);
  expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: 1 });
  expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: 1 });
  const [html, junit, markdown] = reports.map((file) => readFileSync(join(cwd, file), "utf8"));
  expect(html).toMatch(/^<!doctype html>/i);
  expect(junit).toMatch(/<testsuites name="scenarios" tests="2" failures="1" errors="0" time=/);
  expect(markdown).toMatch(/## Scenarios: 1 failing, 1 passing/);
  writeFileSync(join(cwd, "summary.md"), "# My own notes\n");
  const refused = await runScenarios(cwd, flags);
  expect(refused).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("summary.md was not written"),
  });
  expect(readFileSync(join(cwd, "summary.md"), "utf8")).toBe("# My own notes\n");
});

test("As JSON, the results are one object, and nothing else is printed", async () => {
  const cwd = makeSuite({ pages: { good: spec(), wrong: FAILING, bad: pageOf({}) } });
  const { exitCode, stdout } = await runScenarios(cwd, ["--json"]);
  expect(exitCode).toBe(2);
  const told = JSON.parse(stdout);
  expect(told).toMatchObject({
    passing: 1,
    failing: 1,
    manual: 0,
    problems: [{ subject: expect.stringMatching(/bad\.md:2$/), message: expect.any(String) }],
  });
  const ids = told.records.map(({ test_id }: { test_id: string }) => test_id).sort();
  expect(ids).toEqual(["good", "wrong"]);
  for (const { recordPath, projectPath, ...record } of told.records) {
    expect(JSON.parse(readFileSync(recordPath, "utf8"))).toEqual(record);
  }
});

test("As JSON, a wrong command line is reported as an error", async () => {
  const cwd = makeSuite({ pages: { good: spec() } });
  const { exitCode, stdout } = await runScenarios(cwd, ["--json", "--only=godo"]);
  expect(exitCode).toBe(2);
  expect(JSON.parse(stdout).error.message).toContain("there is no scenario godo");
});

test("A project that is to be kept stays, and no later runner removes it", async () => {
  const cwd = makeSuite({
    pages: { a: spec({ steps: [{ write_file: { path: "made.txt", content: "made" } }] }) },
  });
  const { stdout } = await runScenarios(cwd, ["--keep-tmp"]);
  const project = /project: (.*)/.exec(stdout)?.[1] ?? "";
  await runScenarios(cwd);
  expect(readFileSync(join(project, "made.txt"), "utf8")).toBe("made");
  expect(readFileSync(join(project, "base.txt"), "utf8")).toBe("base\n");
  rmSync(dirname(project), { recursive: true });
});

test("A suite is found by its config file, by a directory, or from anywhere else", async () => {
  const cwd = makeSuite({ pages: { a: spec() } });
  const elsewhere = temporaryDirectory();
  const byConfig = await runScenarios(elsewhere, ["--config", join(cwd, ".sanddune/scenarios.json")]);
  const byCwd = await runScenarios(elsewhere, ["--cwd", cwd]);
  expect([byConfig.exitCode, byCwd.exitCode]).toEqual([0, 0]);
  expect(recordsOf(cwd, "a")).toHaveLength(2);
  const byDirectory = await runScenarios(cwd, ["scenarios"]);
  expect(byDirectory.exitCode).toBe(0);
  expect(recordsOf(cwd, "a")).toHaveLength(3);
  expect(existsSync(join(elsewhere, "runs"))).toBe(false);
});

describeWith(["tmux"], "At a terminal", () => {
  test("each scenario is a line as soon as it is over, and the end counts them", async () => {
    const cwd = makeSuite({ pages: { good: spec(), wrong: FAILING } });
    const terminal = startTerminal(`node ${builtCli()} scenario run`, { cwd, columns: 100 });
    expect(await terminal.ended()).toBe(1);
    const shown = terminal.history();
    expect(shown).toMatch(/^✓ good {3}passing/m);
    expect(shown).toMatch(/^✗ wrong {2}failing/m);
    expect(shown).toMatch(/file_exists: missing\.txt: nothing is there/);
    expect(shown).toMatch(/1 passing, 1 failing, 0 manual$/);
  });
});
