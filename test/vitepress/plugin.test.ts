import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ScenarioRecord } from "../../src/scenarios/records/record.ts";
import { addRecord } from "../../src/scenarios/records/writeRecords.ts";
import { scenarioRecordsPlugin } from "../../src/vitepress/plugin.ts";
import type { PageRecords } from "../../src/vitepress/siteRecords.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";
import { failingRecord, minute, runRecord } from "../scenarios/report/reportRecords.ts";

/** A directory of records below a site's, and the plugin that reads it. */
const siteWith = async (...records: readonly ScenarioRecord[]) => {
  const root = temporaryDirectory();
  const recordsDir = join(root, "runs");
  for (const record of records) await addRecord(recordsDir, record);
  const plugin = scenarioRecordsPlugin({ recordsDir: "runs" });
  plugin.configResolved({ root });
  const warnings: string[] = [];
  const text = async (id: string): Promise<string> => {
    const resolved = plugin.resolveId(id) ?? "";
    return (await plugin.load.call({ warn: (message) => warnings.push(message) }, resolved)) ?? "";
  };
  const data = async (id: string): Promise<PageRecords> => {
    const code = await text(`virtual:scenario-records/${id}`);
    return JSON.parse(JSON.parse(/^export default JSON\.parse\((.*)\);\n$/.exec(code)?.[1] ?? ""));
  };
  return { recordsDir, plugin, text, data, warnings };
};

it("has a module for each scenario, none of which holds the records of another", async () => {
  const { text, data } = await siteWith(runRecord(), failingRecord({ test_id: "second" }));
  const modules = await text("virtual:scenario-records");
  expect(modules.match(/import\("[^"]*"\)/g)).toEqual([
    'import("virtual:scenario-records/summary")',
    'import("virtual:scenario-records/scenario/first")',
    'import("virtual:scenario-records/scenario/second")',
  ]);
  expect(modules).not.toContain("file_exists");
  expect(await data("scenario/first")).toEqual({ records: [runRecord()], unreadable: [] });
});

it("has in the summary what counts now, without what happened", async () => {
  const repeated = { repeat: { number: 1, of: 2, go: "go" } };
  const again = { repeat: { number: 2, of: 2, go: "go" } };
  const { data } = await siteWith(
    runRecord(minute(1)),
    failingRecord({ ...minute(2), ...repeated }),
    runRecord({ ...minute(3), ...again }),
    runRecord(minute(4)),
    runRecord({ ...minute(2), runner: { kind: "agent", provider: "pi" } }),
  );
  const { records } = await data("summary");
  expect(records.map(({ started_at, runner }) => [started_at.slice(14, 16), runner.kind])).toEqual([
    ["04", "cli"],
    ["03", "cli"],
    ["02", "cli"],
    ["02", "agent"],
  ]);
  for (const record of records) expect(record).toMatchObject({ steps: [], assertions: [], notes: null });
});

it("leaves out what a page does not show", async () => {
  const steps = [
    {
      ...{ name: "ask", exit_code: 0, duration_ms: 1, stdout_tail: "x".repeat(8000) },
      tool_edits: [{ name: "Edit", status: "completed" as const }],
    },
  ];
  const { data } = await siteWith(
    ...Array.from({ length: 22 }, (_, index) => runRecord({ ...minute(index), steps })),
  );
  const { records } = await data("scenario/first");
  expect(records).toHaveLength(22);
  expect(records[0]?.steps).toEqual([
    { name: "ask", exit_code: 0, duration_ms: 1, stdout_tail: "x".repeat(2001) },
  ]);
  expect(records.slice(20).map(({ steps: none }) => none)).toEqual([[], []]);
});

it("names files that are no records, and no directory of this machine", async () => {
  const { recordsDir, text, data } = await siteWith(runRecord());
  for (const name of ["first", "other", "__proto__"]) mkdirSync(join(recordsDir, name), { recursive: true });
  writeFileSync(join(recordsDir, "first/torn.json"), '{"schema":');
  writeFileSync(join(recordsDir, "first/newest.json"), JSON.stringify(failingRecord()));
  writeFileSync(join(recordsDir, "other/2026-01-02T03-04-05-000Z.json"), JSON.stringify(failingRecord()));
  writeFileSync(join(recordsDir, "__proto__/a.json"), "{}");
  const { records, unreadable } = await data("summary");
  expect(records).toHaveLength(1);
  expect(unreadable.map((each) => each.split(":")[0])).toEqual([
    "__proto__/a.json",
    "first/newest.json",
    "first/torn.json",
    "other/2026-01-02T03-04-05-000Z.json",
  ]);
  expect((await data("scenario/other")).unreadable).toEqual([expect.stringMatching(/^other\/2026/)]);
  expect(await text("virtual:scenario-records")).not.toContain("__proto__");
  expect(JSON.stringify(unreadable)).not.toContain(recordsDir);
});

it("warns of a directory that does not exist, and has nothing to show", async () => {
  const { data, warnings, recordsDir } = await siteWith();
  expect(await data("summary")).toEqual({ records: [], unreadable: [] });
  expect(warnings).toEqual([expect.stringContaining(recordsDir)]);
});

it("leaves modules of others alone", async () => {
  const { plugin, text } = await siteWith();
  expect(plugin.resolveId("vue")).toBeUndefined();
  expect(await text("vue")).toBe("");
});

it("reads the records again after the next suite run", async () => {
  const { plugin, data, recordsDir } = await siteWith(runRecord());
  const listeners: ((event: string, path: string) => void)[] = [];
  const reloads: object[] = [];
  plugin.configureServer({
    watcher: { add: () => {}, on: (_, listener) => listeners.push(listener) },
    moduleGraph: { getModuleById: () => ({}), invalidateModule: () => {} },
    ws: { send: (message) => reloads.push(message) },
  });
  expect((await data("summary")).records).toHaveLength(1);
  await addRecord(recordsDir, runRecord({ test_id: "second" }));
  for (const listener of listeners) listener("change", join(recordsDir, "index.json"));
  expect(reloads).toEqual([{ type: "full-reload" }]);
  expect((await data("summary")).records).toHaveLength(2);
});
