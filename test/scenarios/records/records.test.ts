import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ScenarioRecordError } from "../../../src/errors.ts";
import { readRecords } from "../../../src/scenarios/records/readRecords.ts";
import type { ScenarioRecord } from "../../../src/scenarios/records/record.ts";
import { redactRecord, secretsOfEnvironment } from "../../../src/scenarios/records/redactRecord.ts";
import { writeIndex } from "../../../src/scenarios/records/writeIndex.ts";
import { addRecord, pruneRecords } from "../../../src/scenarios/records/writeRecords.ts";

let directory: string;
let recordsDir: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "records-"));
  recordsDir = join(directory, "runs");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const record = (testId: string, startedAt: string, more: Partial<ScenarioRecord> = {}): ScenarioRecord => ({
  schema: "sanddune.scenario-run/v1",
  test_id: testId,
  started_at: startedAt,
  finished_at: startedAt,
  duration_ms: 12,
  manifest_version: "v1.2.3",
  runner: { kind: "cli", provider: null, model: null, sandbox: null, version: "sanddune/0", host: "linux" },
  fixture: "fixtures/a",
  ide_platform: null,
  result: "passing",
  steps: [],
  assertions: [],
  notes: null,
  ci_run: null,
  ...more,
});

const FIRST = "2026-01-02T03:04:05.006Z";
const SECOND = "2026-01-02T03:04:05.007Z";
const NOW = new Date("2026-02-01T00:00:00.000Z");

/** A scenario that the suite's tool executes. */
const tool = (id: string) => ({ id, runnable: "cli" }) as const;

const readIndex = () => JSON.parse(readFileSync(join(recordsDir, "index.json"), "utf8"));

it("a record is a file of its scenario, named after when it began", async () => {
  const path = await addRecord(recordsDir, record("a", FIRST));
  expect(path).toBe(join(recordsDir, "a", "2026-01-02T03-04-05-006Z.json"));
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(record("a", FIRST));
});

it("records of the same moment do not replace each other, and nothing else is left beside them", async () => {
  await Promise.all(Array.from({ length: 20 }, () => addRecord(recordsDir, record("a", FIRST))));
  expect(readdirSync(join(recordsDir, "a"))).toHaveLength(20);
  expect((await readRecords(recordsDir)).records).toHaveLength(20);
});

it("the index has the newest record of each scenario that exists, and of no other", async () => {
  await addRecord(recordsDir, record("a", SECOND, { result: "failing" }));
  await addRecord(recordsDir, record("a", FIRST));
  await addRecord(recordsDir, record("gone", FIRST));
  await writeIndex(recordsDir, [tool("never-executed"), tool("a")]);
  const { schema, generated_at, latest } = readIndex();
  expect(schema).toBe("sanddune.scenario-runs-index/v1");
  expect(Number.isNaN(Date.parse(generated_at))).toBe(false);
  expect(latest).toEqual({
    a: {
      started_at: SECOND,
      manifest_version: "v1.2.3",
      result: "failing",
      runner_kind: "cli",
      runner_provider: null,
      duration_ms: 12,
      record_path: "runs/a/2026-01-02T03-04-05-007Z.json",
    },
  });
});

it("a file that is not a record is reported, and the record before it counts", async () => {
  await addRecord(recordsDir, record("a", FIRST));
  writeFileSync(join(recordsDir, "a", "2027-01-01.json"), "{ half");
  writeFileSync(join(recordsDir, "a", "2027-01-02.json"), JSON.stringify(record("b", SECOND)));
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest.a.started_at).toBe(FIRST);
  const { records, problems } = await readRecords(recordsDir);
  expect(records).toEqual([record("a", FIRST)]);
  expect(problems).toEqual([
    expect.stringContaining("2027-01-01.json"),
    expect.stringContaining("2027-01-02.json"),
  ]);
});

it.each<[string, (path: string) => void]>([
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a link to a device without an end", (path) => symlinkSync("/dev/zero", path)],
  [
    "larger than any record",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, 2 ** 40);
    },
  ],
])("a file among the records that is %s is reported, and not waited for", async (_, plant) => {
  await addRecord(recordsDir, record("a", FIRST));
  plant(join(recordsDir, "a", "2027-01-01.json"));
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest.a.started_at).toBe(FIRST);
  const { records, problems } = await readRecords(recordsDir);
  expect(records).toEqual([record("a", FIRST)]);
  expect(problems).toEqual([expect.stringContaining("2027-01-01.json")]);
});

it("there may be no records at all", async () => {
  expect(await readRecords(recordsDir)).toEqual({ records: [], problems: [] });
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest).toEqual({});
});

it("pruning keeps the newest records of that scenario, and those of others", async () => {
  for (const startedAt of [FIRST, SECOND, "2026-01-02T03:04:05.008Z"])
    await addRecord(recordsDir, record("a", startedAt));
  await addRecord(recordsDir, record("b", FIRST));
  await pruneRecords(recordsDir, "a", { keep: 2, since: NOW });
  const { records } = await readRecords(recordsDir);
  expect(records.map(({ test_id, started_at }) => [test_id, started_at])).toEqual([
    ["a", SECOND],
    ["a", "2026-01-02T03:04:05.008Z"],
    ["b", FIRST],
  ]);
});

it.each([
  ["from the future", "9999-12-31T00:00:00.000Z", "9999-12-31T00-00-00-000Z.json"],
  ["with a time that sorts otherwise", "+275760-09-13T00:00:00.000Z", "+275760-09-13T00-00-00-000Z.json"],
  ["whose name says another time", FIRST, "2026-01-02T03-04-05-999Z.json"],
  ["with something else in its name", SECOND, "2026-01-02T03-04-05-007Z_zzz_001.json"],
])("a record %s is none, and does not become the newest", async (_, startedAt, name) => {
  await addRecord(recordsDir, record("a", FIRST, { result: "failing" }));
  writeFileSync(join(recordsDir, "a", name), JSON.stringify(record("a", startedAt)));
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest.a.result).toBe("failing");
  expect((await readRecords(recordsDir)).problems).toEqual([expect.stringContaining(name)]);
});

it("pruning leaves files alone that are not records", async () => {
  for (const startedAt of [FIRST, SECOND]) await addRecord(recordsDir, record("a", startedAt));
  writeFileSync(join(recordsDir, "a", "0-notes.json"), "{}");
  await pruneRecords(recordsDir, "a", { keep: 1, since: NOW });
  expect(readdirSync(join(recordsDir, "a")).sort()).toEqual([
    "0-notes.json",
    "2026-01-02T03-04-05-007Z.json",
  ]);
});

it("a runner that prunes leaves the records of another one alone that runs at the same time", async () => {
  const others = { keep: 1, since: new Date(FIRST) };
  await addRecord(recordsDir, record("a", "2025-12-31T00:00:00.000Z"));
  await addRecord(recordsDir, record("a", SECOND));
  await pruneRecords(recordsDir, "a", others);
  await addRecord(recordsDir, record("a", "2026-01-02T03:04:05.008Z"));
  await pruneRecords(recordsDir, "a", others);
  const { records } = await readRecords(recordsDir);
  expect(records.map(({ started_at }) => started_at)).toEqual([SECOND, "2026-01-02T03:04:05.008Z"]);
});

it("a scenario for both counts as failing in the index while one of its runners fails", async () => {
  const agent = { ...record("a", FIRST).runner, kind: "agent", provider: "pi" } as const;
  await addRecord(recordsDir, record("a", FIRST, { result: "failing" }));
  await addRecord(recordsDir, record("a", SECOND, { runner: agent }));
  await writeIndex(recordsDir, [{ id: "a", runnable: "both" }]);
  expect(readIndex().latest.a).toMatchObject({ result: "failing", runner_kind: "cli", started_at: FIRST });
  await addRecord(recordsDir, record("a", "2026-01-02T03:04:05.008Z"));
  await writeIndex(recordsDir, [{ id: "a", runnable: "both" }]);
  expect(readIndex().latest.a).toMatchObject({ result: "passing", runner_kind: "cli" });
});

it("an agent's records count no more in the index once only the tool executes the scenario", async () => {
  const agent = { ...record("a", FIRST).runner, kind: "agent", provider: "pi" } as const;
  await addRecord(recordsDir, record("a", FIRST));
  await addRecord(recordsDir, record("a", SECOND, { result: "failing", runner: agent }));
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest.a).toMatchObject({ result: "passing", started_at: FIRST });
});

it("of records of the same moment, the one that was added last is the newest", async () => {
  for (let number = 1; number <= 11; number++) {
    await addRecord(recordsDir, record("a", FIRST, { duration_ms: number }));
  }
  await writeIndex(recordsDir, [tool("a")]);
  expect(readIndex().latest.a.duration_ms).toBe(11);
});

it("a failure among executions that were repeated in one suite run stands for all of them in the index", async () => {
  const repeated = (number: number, go: string) => ({ repeat: { number, of: 3, go } });
  await addRecord(recordsDir, record("a", FIRST, { result: "failing", ...repeated(1, "before") }));
  const times = [SECOND, "2026-01-02T03:04:05.008Z", "2026-01-02T03:04:05.009Z"];
  for (const [index, startedAt] of times.entries()) {
    const result = index === 1 ? "failing" : "passing";
    await addRecord(recordsDir, record("a", startedAt, { result, ...repeated(index + 1, "now") }));
    await addRecord(recordsDir, record("b", startedAt, repeated(index + 1, "now")));
  }
  await writeIndex(recordsDir, [tool("a"), tool("b")]);
  const { a, b } = readIndex().latest;
  expect([a.result, a.started_at]).toEqual(["failing", times[1]]);
  expect([b.result, b.started_at]).toEqual(["passing", times[2]]);
});

it("a directory is redacted by its real name too, and an author's name is no secret", () => {
  mkdirSync(join(directory, "real"));
  symlinkSync(join(directory, "real"), join(directory, "link"));
  const notes = `${directory}/real/a and ${directory}/link/b by A. Longname`;
  const written = redactRecord(record("a", FIRST, { notes }), {
    secrets: secretsOfEnvironment({ GIT_AUTHOR_NAME: "A. Longname", MY_AUTH: "something else" }),
    paths: new Map([[`${directory}/link`, "<suite>"]]),
  });
  expect(written.notes).toBe("<suite>/a and <suite>/b by A. Longname");
});

it.each(["runs", "runs/a"])("nothing is written through a link at %s", async (link) => {
  const outside = join(directory, "outside");
  mkdirSync(outside);
  if (link !== "runs") mkdirSync(recordsDir);
  symlinkSync(outside, join(directory, link));
  await expect(addRecord(recordsDir, record("a", FIRST))).rejects.toBeInstanceOf(ScenarioRecordError);
  expect(readdirSync(outside)).toEqual([]);
});

it("secrets and directories of this machine are not in a record", () => {
  const secret = "correct horse battery";
  const written = redactRecord(
    record("a", FIRST, {
      notes: `${directory}/project/src failed, not ${directory}/project-2`,
      steps: [
        {
          name: `tool ${directory}/suite/bin.mjs`,
          exit_code: 1,
          duration_ms: 1,
          stdout_tail: `token ${secret}`,
          stderr_tail: Buffer.from(`auth ${secret}!`).toString("base64"),
          tool_edits: [{ name: secret, status: "error" }],
        },
      ],
      assertions: [{ name: "file_exists: x", ok: false, detail: `nothing at ${homedir()}/x` }],
    }),
    {
      secrets: secretsOfEnvironment({ MY_TOKEN: secret, HOME: "harmless value" }),
      paths: new Map([
        [`${directory}/project`, "<project>"],
        [`${directory}/suite`, "<suite>"],
      ]),
    },
  );
  const text = JSON.stringify(written);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(Buffer.from(secret).toString("base64").slice(4, 20));
  expect(written.notes).toContain("<project>/src failed");
  expect(written.notes).not.toContain(directory);
  expect(written.notes).toContain("project-2");
  expect(written.steps[0]?.name).toBe("tool <suite>/bin.mjs");
  expect(written.assertions[0]?.detail).toBe("nothing at <home>/x");
});

it("an id that looks like a secret stays what it is", () => {
  const written = redactRecord(record("install-node", FIRST), {
    secrets: new Map([["KEY", "install-node"]]),
    paths: new Map(),
  });
  expect(written.test_id).toBe("install-node");
  expect(existsSync(recordsDir)).toBe(false);
});
