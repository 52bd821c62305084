import { readFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  makeSuite,
  readIndex,
  recordOf,
  recordsOf,
  resultsIn,
  runScenarios,
  sh,
  spec,
} from "./scenarioSuites.ts";

useOwnTemporaryDirectory();

const packageVersion: string = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../package.json"), "utf8"),
).version;

const TOOL_WITH_ALL = [
  "node",
  "../bin/tool.mjs",
  "{subcommand}",
  "{projectRoot}",
  "--yes",
  "--base-url={baseUrl}",
  "{...flags}",
];

/** The names of the steps with their exit codes; the first is always that of the fixture. */
const endsOf = (cwd: string, id: string): (readonly [string, number])[] =>
  recordOf(cwd, id).steps.map(({ name, exit_code }) => [name, exit_code] as const);

const COPIED = ["copy fixture", 0] as const;

test("Steps of every kind are done in order, in a copy of the fixture", async () => {
  const steps = spec({
    prerequisites: [
      { name: "prepare it", cli: "prepare", flags: ["--with=cli", "a b"] },
      { write_file: { path: "scripts/check.sh", content: 'test -f "$1"\n' } },
    ],
    steps: [
      { cli: "go" },
      { cmd: ["sh", "-c", 'printf %s "$1" > argument.txt', "sh", "$HOME; {projectRoot}"] },
      { append_to_file: { path: "base.txt", content: "more\n" } },
      { write_file: { path: "new/file.txt", content: "new" } },
      { ...sh("echo out; echo err >&2; exit 3"), name: "exits", allow_nonzero: true },
      { cmd: ["no-such-program"], name: "missing", allow_nonzero: true },
      { ...sh("kill -9 $$"), name: "killed", allow_nonzero: true },
    ],
    assertions: [
      { file_contains: { path: "base.txt", substr: "base\nmore\n" } },
      { file_matches: { path: "argument.txt", regex: "^\\$HOME; \\{projectRoot\\}$" } },
      { file_exists: "new/file.txt" },
      { cmd_zero: ["sh", "scripts/check.sh", "new/file.txt"] },
      { cmd_nonzero: ["sh", "scripts/check.sh", "old/file.txt"] },
    ],
  });
  const cwd = makeSuite({ pages: { steps }, settings: { cliCommand: TOOL_WITH_ALL } });
  const result = await runScenarios(cwd, ["--base-url=https://example.com/x"]);
  expect(result).toMatchObject({ exitCode: 0 });
  expect(endsOf(cwd, "steps")).toEqual([
    COPIED,
    ["prereq: prepare it", 0],
    ["prereq: write_file: scripts/check.sh", 0],
    ["cli: go", 0],
    [expect.stringMatching(/^cmd: sh -c printf/), 0],
    ["append_to_file: base.txt", 0],
    ["write_file: new/file.txt", 0],
    ["exits", 3],
    ["missing", 127],
    ["killed", 137],
  ]);
  const record = recordOf(cwd, "steps");
  const printed = (name: string) => record.steps.find((step) => step.name === name);
  expect(JSON.parse(printed("prereq: prepare it")?.stdout_tail ?? "")).toEqual([
    ...["prepare", "<project>", "--yes", "--base-url=https://example.com/x", "--with=cli", "a b"],
  ]);
  expect(printed("exits")).toMatchObject({ stdout_tail: "out", stderr_tail: "err" });
  expect(record.assertions.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
  expect(readFileSync(join(cwd, "fixtures/base/base.txt"), "utf8")).toBe("base\n");
});

test.each([
  ["a step", { steps: [{ ...sh("exit 3"), name: "one" }, sh("touch two")] }, "one: exit code 3"],
  [
    "a prerequisite",
    { prerequisites: [{ cli: "fail", name: "one" }], steps: [sh("touch two")] },
    "prereq: one: exit code 3",
  ],
])("After %s that fails, no other is done, and all assertions are checked", async (_, parts, note) => {
  const assertions = [{ file_absent: "two" }, { file_exists: "two" }, { file_exists: "base.txt" }];
  const cwd = makeSuite({ pages: { a: spec({ ...parts, assertions }) } });
  expect(await runScenarios(cwd)).toMatchObject({ exitCode: 1 });
  const record = recordOf(cwd, "a");
  expect(record.steps).toHaveLength(2);
  expect(record.assertions.map(({ ok, detail }) => [ok, detail])).toEqual([
    [true, "nothing is there"],
    [false, "nothing is there"],
    [true, "a file is there"],
  ]);
  expect(record).toMatchObject({ result: "failing", notes: expect.stringContaining(note) });
});

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("Records and their index have the fields that pages are made of", async () => {
  const cwd = makeSuite({
    pages: {
      a: spec({ ide_platform: "cursor", steps: [{ cli: "go" }], notes: "For readers." }),
      hand: { runnable: "manual", ide_platform: "codex", notes: "Look at the screen." },
    },
    files: { "public/manifest.json": '{ "version": "1.2.3" }' },
    settings: { versionFile: "../public/manifest.json#version" },
  });
  const ci = "https://ci.example.com/runs/7";
  await runScenarios(cwd, ["--runnable=any", `--ci=${ci}`], {
    env: { GITHUB_ACTIONS: "true" },
  });
  const common = {
    schema: "sanddune.scenario-run/v1",
    started_at: TIME,
    finished_at: TIME,
    duration_ms: expect.any(Number),
    manifest_version: "v1.2.3",
    ci_run: { platform: "github-actions", url: ci },
  };
  const runner = {
    provider: null,
    model: null,
    sandbox: null,
    version: `sanddune/${packageVersion}`,
    host: `${platform()} ${arch()} node ${process.version}`,
  };
  expect(recordOf(cwd, "a")).toEqual({
    ...common,
    test_id: "a",
    runner: { ...runner, kind: "cli" },
    fixture: "fixtures/base",
    ide_platform: "cursor",
    result: "passing",
    steps: [
      { name: "copy fixture", exit_code: 0, duration_ms: expect.any(Number) },
      {
        name: "cli: go",
        exit_code: 0,
        duration_ms: expect.any(Number),
        stdout_tail: '["go"]',
        stderr_tail: "",
      },
    ],
    assertions: [{ name: "file_exists: base.txt", ok: true, detail: "a file is there" }],
    notes: null,
  });
  expect(recordOf(cwd, "hand")).toEqual({
    ...common,
    test_id: "hand",
    runner: { ...runner, kind: "manual" },
    fixture: null,
    ide_platform: "codex",
    result: "manual",
    steps: [],
    assertions: [],
    notes: "Look at the screen.",
  });
  const entry = (id: string, kind: string, result: string) => ({
    started_at: recordOf(cwd, id).started_at,
    manifest_version: "v1.2.3",
    result,
    runner_kind: kind,
    runner_provider: null,
    duration_ms: recordOf(cwd, id).duration_ms,
    record_path: `runs/${id}/${recordOf(cwd, id).started_at.replaceAll(/[:.]/g, "-")}.json`,
  });
  expect(readIndex(cwd)).toEqual({
    schema: "sanddune.scenario-runs-index/v1",
    generated_at: TIME,
    latest: { a: entry("a", "cli", "passing"), hand: entry("hand", "manual", "manual") },
  });
});

test("Nothing of this machine stands in a record: neither its directories nor its keys", async () => {
  const key = "k3y-0f-nobody-else";
  const ownKey = "an0ther-in-the-file";
  const leaky = spec({
    steps: [
      sh(
        'pwd; echo "$PWD/.." "$SOME_API_KEY" "$HOME"; cat "$SUITE/bin/none"; cat "$SUITE/.sanddune/.env"; true',
      ),
    ],
  });
  const cwd = makeSuite({ pages: { leaky }, files: { ".sanddune/.env": `ANYTHING=${ownKey}\n` } });
  const { stdout } = await runScenarios(cwd, ["--json"], { env: { SOME_API_KEY: key, SUITE: cwd } });
  const text = JSON.stringify(recordsOf(cwd, "leaky"));
  expect(text).toContain("<project>");
  expect(text).toContain("<suite>/bin/none");
  expect(text).toContain("[redacted SOME_API_KEY]");
  for (const leak of [key, ownKey, cwd, process.env["TMPDIR"] as string, process.env["HOME"] as string]) {
    expect(text).not.toContain(leak);
  }
  expect(stdout).not.toContain(key);
});

describeWith(["bubblewrap"], "With an agent", () => {
  const AGENT = ["--sandbox", "bubblewrap", "--agent-command", "sh ./agent.sh"];
  const agentFixture = (script: string) => ({ "fixtures/base/agent.sh": script });

  test("a scenario for both is executed once by the tool and once by the agent, and each has a record", async () => {
    const both = spec({
      runnable: "both",
      prerequisites: [{ cli: "prepare" }],
      steps: [{ agent: "install", prompt: "Please." }, sh("cp base.txt copy.txt")],
      assertions: [{ file_exists: "copy.txt" }],
    });
    const cwd = makeSuite({
      pages: { both },
      files: agentFixture('cat > prompt.txt; echo "I was told: $(cat prompt.txt)"'),
    });
    expect(await runScenarios(cwd, ["--runnable=any", ...AGENT])).toMatchObject({ exitCode: 0 });
    const records = recordsOf(cwd, "both").sort((a, b) => a.runner.kind.localeCompare(b.runner.kind));
    expect(records.map(({ runner: { kind, provider, sandbox } }) => ({ kind, provider, sandbox }))).toEqual([
      { kind: "agent", provider: "command", sandbox: "bubblewrap" },
      { kind: "cli", provider: null, sandbox: "bubblewrap" },
    ]);
    const [byAgent, byTool] = records.map(({ steps }) => steps[2]);
    expect(byAgent).toMatchObject({ name: "agent: install", stdout_tail: "I was told: Please." });
    expect(byTool).toMatchObject({ name: "agent: install", stdout_tail: '["install"]' });
  });

  test.each([
    ["takes too long", { timeout_ms: 300 }, "sleep 600", "failing", 124],
    ["fails", {}, "echo no >&2; exit 9", "failing", 9],
    ["is not there", {}, "", "manual", 0],
  ])("an agent that %s is recorded as what it is", async (_, settings, script, result, code) => {
    const pages = { a: spec({ runnable: "agent", steps: [{ agent: "install", ...settings }] }) };
    const cwd = makeSuite({ pages, files: agentFixture(script) });
    const command = script === "" ? "no-such-agent" : "sh ./agent.sh";
    const flags = ["--runnable=agent", "--sandbox", "bubblewrap", "--agent-command", command];
    expect(await runScenarios(cwd, flags)).toMatchObject({ exitCode: result === "failing" ? 1 : 0 });
    expect(resultsIn(cwd)).toEqual({ a: result });
    const record = recordOf(cwd, "a");
    expect(record.steps.at(-1)).toMatchObject({ name: "agent: install", exit_code: code });
    expect(record.runner.kind).toBe(result === "manual" ? "manual" : "agent");
    expect(record.notes).toMatch(result === "manual" ? /no-such-agent/ : `agent: install: exit code ${code}`);
    expect(record.assertions).toHaveLength(result === "manual" ? 0 : 1);
  });
});
