import { describe, expect, it } from "vitest";
import type { TestProgress } from "../../../src/environment/contract.ts";
import { useTool } from "../builtTool.ts";
import { http, open, openDefinition, serve } from "../serving.ts";

useTool();

const TAP = `printf 'TAP version 13\\n1..3\\nok 1 - adds\\nnot ok 2 - subtracts\\nok 3 - divides\\n'; exit 1`;

describe("a suite among the tests", () => {
  it("is one entry, and its tests have paths below its own", async () => {
    const { tests } = await openDefinition(`concurrency: 1, tests: {
      own: () => {},
      legacy: suite({ command: ${JSON.stringify(TAP)}, format: "tap" }),
    }`);
    expect(await tests.schema()).toEqual({ tests: [{ path: "own" }, { path: "legacy", isSuite: true }] });
    const progress: TestProgress[] = [];
    const results = await tests.run("", { onProgress: (told) => progress.push(told) });
    expect(results).toMatchObject({ passed: 3, failed: 1, total: 4, error: null });
    expect(results.tests.map(({ path }) => path)).toEqual([
      "own",
      "legacy/adds",
      "legacy/subtracts",
      "legacy/divides",
    ]);
    expect(progress[0]).toEqual({ done: 0, total: undefined });
    expect(progress.at(-1)).toMatchObject({ done: 4, total: 4 });
  });

  it("is run for what is below its path, and tells of that only", async () => {
    const { url } = await serve({
      "environment.json": JSON.stringify({ suites: { unit: { command: TAP, format: "tap" } } }),
    });
    expect((await http(url, "/run/unit")).body).toMatchObject({
      path: "unit",
      passed: 2,
      failed: 1,
      total: 3,
    });
    expect((await http(url, "/run/unit/subtracts")).body).toMatchObject({
      path: "unit/subtracts",
      passed: 0,
      failed: 1,
      total: 1,
    });
    const unknown = await http(url, "/run/unit/multiplies");
    expect(unknown.status).toBe(404);
    expect(unknown.body["paths"]).toEqual(["unit/adds", "unit/subtracts", "unit/divides"]);
    const inLines = await http(url, "/run/unit/multiplies", { headers: { accept: "application/x-ndjson" } });
    expect(inLines.status).toBe(200);
    expect(JSON.parse(inLines.text.trim().split("\n").at(-1) ?? "")).toMatchObject({
      status: 404,
      error: expect.stringContaining("There is no test"),
    });
    expect((await http(url, "/run/uni")).status).toBe(404);
  });

  it("that cannot be run is an error of the results, beside those of the others", async () => {
    const { tests } = await openDefinition(`tests: {
      own: () => {},
      broken: suite({ command: "echo nothing to see", format: "junit" }),
      slow: suite({ command: "sleep 1014", format: "tap", timeoutMs: 300 }),
    }`);
    const results = await tests.run("");
    expect(results).toMatchObject({ passed: 1, failed: 0, total: 1 });
    expect(results.error).toMatch(/^broken: [\s\S]*\nslow: [\s\S]*300 ms/m);
  });

  it("has no parameters", async () => {
    const { tests } = await open({
      "environment.json": JSON.stringify({ suites: { unit: { command: TAP, format: "tap" } } }),
    });
    await expect(tests.run("", { parameters: { n: 1 } })).rejects.toMatchObject({
      status: 400,
      problem: 'There is no parameter "n". The requested tests take none.',
    });
  });
});
