import { expect, it } from "vitest";
import { createSSRApp, h, resolveComponent } from "vue";
import { renderToString } from "vue/server-renderer";
import type { ScenarioRecord } from "../../src/scenarios/records/record.ts";
import { type ScenarioRecordsOptions, scenarioRecords } from "../../src/vitepress/index.ts";
import type { SiteRecords } from "../../src/vitepress/siteRecords.ts";
import { forScenario, forSummary } from "../../src/vitepress/trimRecords.ts";
import { failingRecord, minute, runRecord } from "../scenarios/report/reportRecords.ts";

/** What a page of a site shows that has the components on it, as a server renders it. */
const page = (
  records: SiteRecords,
  { testId = "first", ...options }: ScenarioRecordsOptions & { readonly testId?: string } = {},
): Promise<string> => {
  const app = createSSRApp({
    render: () => [
      h(resolveComponent("LatestRunsSummary")),
      h("hr"),
      // As in Markdown, where names of attributes have no capitals.
      h(resolveComponent("RunRecords"), { "test-id": testId }),
    ],
  });
  app.use(scenarioRecords(records, options));
  return renderToString(app);
};

/** Records as the plugin hands them to pages. */
const site = (...records: readonly ScenarioRecord[]): SiteRecords => ({
  summary: async () => ({ records: forSummary(records), unreadable: [] }),
  scenarios: Object.fromEntries(
    [...new Set(records.map(({ test_id }) => test_id))].map((id) => [
      id,
      async () => ({ records: forScenario(records.filter(({ test_id }) => test_id === id)), unreadable: [] }),
    ]),
  ),
});

const partsOf = (html: string): { summary: string; records: string } => {
  const [summary = "", records = ""] = html.replace(/<style>[^<]*<\/style>/g, "").split("<hr>");
  return { summary, records };
};

it("shows the newest results in the order of the ids, and the executions of one scenario newest first", async () => {
  const html = await page(site(runRecord({ test_id: "z" }), runRecord(minute(1)), failingRecord(minute(2))));
  const { summary, records } = partsOf(html);
  expect(summary).toContain("1 failing, 1 passing.");
  expect(summary.indexOf(">first<")).toBeLessThan(summary.indexOf(">z<"));
  expect(records.match(/✓ passing|✗ failing/g)).toEqual(["✗ failing", "✓ passing"]);
  for (const text of [
    "2026-01-02 03:02 UTC",
    "there is nothing",
    "install",
    'href="https://ci.example/runs/1"',
  ]) {
    expect(records).toContain(text);
  }
  expect(html).not.toContain("no records");
});

it("shows the given scenarios, with their titles and pages", async () => {
  const { summary } = partsOf(
    await page(site(runRecord(), runRecord({ test_id: "gone" })), {
      scenarios: [
        { id: "new", title: "A new one" },
        { id: "first", title: "The first", link: "/testing/first.html" },
      ],
    }),
  );
  expect(summary).toContain("never run");
  expect(summary.indexOf("A new one")).toBeLessThan(
    summary.indexOf('<a href="/testing/first.html">The first</a>'),
  );
  expect(summary).not.toContain("gone");
});

it("shows nothing of those who no longer execute a scenario", async () => {
  const { summary, records } = partsOf(
    await page(
      site(failingRecord(minute(1)), runRecord({ ...minute(2), runner: { kind: "agent", provider: "pi" } })),
      { scenarios: [{ id: "first", title: "The first", runnable: "agent" }] },
    ),
  );
  expect(summary).toContain("1 passing.");
  for (const part of [summary, records]) {
    expect(part).toContain("agent pi");
    expect(part).not.toContain("failing");
  }
});

it("shows a step that was allowed to fail as such, and counts one as one", async () => {
  const steps = [{ name: "lint", exit_code: 1, duration_ms: 1, allow_nonzero: true }] as const;
  const { records } = partsOf(await page(site(runRecord({ steps }))));
  expect(records).toContain("✓ exit 1, allowed");
  expect(records).toContain("1 step · 1 assertion<");
});

it("says so where there is nothing to show", async () => {
  const { summary, records } = partsOf(await page(site()));
  expect(summary).toContain("There are no records yet.");
  expect(records).toContain("This scenario was never executed.");
});

it("names what is left out, on the page that it belongs to", async () => {
  const torn = { records: [], unreadable: ["first/torn.json: it could not be read"] };
  const records = { summary: async () => torn, scenarios: { first: async () => torn } };
  const parts = partsOf(await page(records));
  for (const part of Object.values(parts))
    expect(part).toContain("no records: first/torn.json: it could not");
  expect(partsOf(await page(records, { testId: "other" })).records).not.toContain("torn.json");
});

it("shows tokens, and counts the executions that it does not show", async () => {
  const usage = {
    inputTokens: 1000,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: 0,
    outputTokens: 234,
  };
  const steps = [{ name: "ask", exit_code: 0, duration_ms: 1, usage }];
  const executions = Array.from({ length: 25 }, (_, index) => runRecord({ ...minute(index), steps }));
  const { records } = partsOf(await page(site(...executions)));
  expect(records.match(/1,234 tokens/g)).toHaveLength(20);
  expect(records).toContain("5 older executions are not shown.");
});

it("shows what agents print as text, and links to nothing but the web", async () => {
  const hostile = '<img src=x onerror="alert(1)">\u202e\u001b]0;x\u0007';
  const record = failingRecord({
    manifest_version: hostile,
    notes: hostile,
    steps: [{ name: hostile, exit_code: 1, duration_ms: 1, stdout_tail: hostile, stderr_tail: hostile }],
    assertions: [{ name: hostile, ok: false, detail: hostile }],
    ci_run: { platform: "x", url: "javascript:alert(1)" },
  });
  const html = await page(site(record));
  expect(html).toContain("&lt;img src=x");
  expect(html).not.toMatch(/<img|href="javascript|[\u202e\u001b\u0007]/);
});

it("shows how often a repeated scenario failed", async () => {
  const { records } = partsOf(
    await page(
      site(
        runRecord({ ...minute(1), repeat: { number: 1, of: 2, go: "first" } }),
        failingRecord({ ...minute(2), repeat: { number: 2, of: 2, go: "first" } }),
      ),
    ),
  );
  expect(records).toContain("1 of 2 failed: 50 % (95 % interval: 9 % to 91 %)");
});

it("refuses what was right before the plugin, with what to write instead", () => {
  expect(() => scenarioRecords({ "../scenarios/runs/a.json": "{}" } as never)).toThrow(
    /scenarioRecordsPlugin\(\)/,
  );
});

it("says what a site lacks that has not given it records", async () => {
  const { RunRecords } = await import("../../src/vitepress/index.ts");
  const app = createSSRApp({ render: () => h(RunRecords as never, { testId: "first" }) });
  app.config.warnHandler = () => {};
  await expect(renderToString(app)).rejects.toThrow(/app\.use\(scenarioRecords\(/);
});
