import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { RunsIndex, ScenarioRecord } from "../../src/scenarios/records/record.ts";
import type { ScenarioSpec } from "../../src/scenarios/spec.ts";
import { runCli } from "../cli/callCli.ts";
import type { CliResult } from "../cli/startCli.ts";
import { processesWith } from "../helpers/processes/processes.ts";
import { useOwnTemporaryDirectory } from "../helpers/repository/ownTemporaryDirectory.ts";
import { describeWith } from "../helpers/runtimes/runtimes.ts";

const TESTING = join(import.meta.dirname, "../../docs/testing");
const SCENARIOS = join(TESTING, "scenarios");

const pages = readdirSync(SCENARIOS).map((name) => {
  const text = readFileSync(join(SCENARIOS, name), "utf8");
  const [, block = ""] = /<!-- sandbox-spec:start -->\s*```json\n(.*?)```/s.exec(text) ?? [];
  return { id: basename(name, ".md"), text, spec: JSON.parse(block) as ScenarioSpec };
});

describe("the pages of our own scenarios", () => {
  const index = readFileSync(join(TESTING, "index.md"), "utf8");

  it.each(pages)("$id is in the index under its own title, and shows its own records", ({ id, text }) => {
    const [, title = ""] = /^# (.*)$/m.exec(text) ?? [];
    expect(index).toContain(`[${title}](scenarios/${id}.md)`);
    expect(text).toContain(`<RunRecords test-id="${id}" />`);
  });
});

useOwnTemporaryDirectory();

describeWith(["bubblewrap"], "our own scenarios, executed with the built command line", () => {
  let answer: CliResult;
  let latest: RunsIndex["latest"];
  let records: readonly ScenarioRecord[];

  /** The suite as it is, but for where its records go. */
  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), "suite-"));
    const { $schema, scenarioDir, fixturesRoot, versionFile, cliCommand, ...others } = JSON.parse(
      readFileSync(join(TESTING, "scenarios.json"), "utf8"),
    );
    const [program, tool, ...args] = cliCommand;
    const settings = {
      ...others,
      scenarioDir: join(TESTING, scenarioDir),
      fixturesRoot: join(TESTING, fixturesRoot),
      recordsDir: join(directory, "runs"),
      versionFile: join(TESTING, versionFile),
      cliCommand: [program, join(TESTING, tool), ...args],
    };
    writeFileSync(join(directory, "scenarios.json"), JSON.stringify(settings));
    answer = await runCli(["scenario", "run", "--config", "scenarios.json", "--runnable=any"], {
      cwd: directory,
      env: { CURSOR_API_KEY: "", ANTHROPIC_API_KEY: "" },
    });
    ({ latest } = JSON.parse(readFileSync(join(settings.recordsDir, "index.json"), "utf8")) as RunsIndex);
    records = Object.values(latest).map(({ record_path }) =>
      JSON.parse(readFileSync(join(directory, record_path), "utf8")),
    );
    return () => rmSync(directory, { recursive: true, force: true });
  });

  it("are all executed, and none is red", () => {
    expect(records.filter(({ result }) => result === "failing").map(({ notes }) => notes)).toEqual([]);
    expect(answer).toMatchObject({ exitCode: 0, stderr: "" });
    expect(Object.keys(latest).sort()).toEqual(pages.map(({ id }) => id).sort());
  });

  it.each(pages)("$id has the result that this machine can find out", ({ id, spec: { runnable } }) => {
    expect(latest[id]?.result).toBe(runnable === "cli" ? "passing" : "manual");
  });

  it("write nothing of this machine into their records", () => {
    const text = JSON.stringify(records);
    for (const path of [tmpdir(), join(TESTING, "../.."), homedir()]) expect(text).not.toContain(`${path}/`);
  });

  it("leave no process behind", () => {
    expect(processesWith(tmpdir())).toEqual([]);
  });
});
