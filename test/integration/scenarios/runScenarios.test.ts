import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  InvalidOptionsError,
  NoScenarioSelectedError,
  runScenarios,
  ScenarioConfigError,
  type ScenarioRunEvent,
  type ScenarioRunOptions,
  scripted,
} from "../../../src/index.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import {
  FAILING,
  makeSuite,
  pageOf,
  recordOf,
  resultsIn,
  runScenarios as runCommand,
  sh,
  spec,
} from "../../cli/scenario/scenarioSuites.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";

useOwnTemporaryDirectory();

const MANUAL = { runnable: "manual", notes: "Look at the screen." } as const;
const FOR_AGENT = spec({
  runnable: "agent",
  steps: [{ agent: "greet", prompt: "Greet." }],
  assertions: [{ file_contains: { path: "greeting.txt", substr: "hello" } }],
});

const rejection = (options: ScenarioRunOptions): Promise<unknown> =>
  runScenarios(options).then(
    () => "it resolved",
    (error) => error,
  );

describe("runScenarios()", () => {
  it("resolves with verdicts, problems and counts, and writes a record of each execution", async () => {
    const cwd = makeSuite({
      pages: { good: spec(), wrong: FAILING, person: MANUAL, bad: pageOf({}) },
    });
    const result = await runScenarios({ cwd, runnable: "any" });
    expect(result).toMatchObject({ passing: 1, failing: 1, manual: 1 });
    expect(result.problems).toEqual([
      { subject: expect.stringMatching(/bad\.md:2$/), message: expect.any(String) },
    ]);
    expect(result.planned.map(({ id, adapter }) => `${id}: ${adapter}`)).toEqual([
      "good: cli",
      "person: manual",
      "wrong: cli",
    ]);
    expect(result.suite.recordsDir).toBe(join(cwd, "runs"));
    for (const { id, record, recordPath = "" } of result.executions) {
      expect(JSON.parse(readFileSync(recordPath, "utf8"))).toEqual(record);
      expect(recordOf(cwd, id)).toEqual(record);
    }
    expect(resultsIn(cwd)).toEqual({ good: "passing", person: "manual", wrong: "failing" });
  });

  it("comes to the same verdicts as the command", async () => {
    const pages = {
      good: spec(),
      wrong: FAILING,
      stopped: spec({ steps: [sh("exit 3"), sh("touch never.txt")] }),
      person: MANUAL,
      agent: FOR_AGENT,
    };
    const [byCommand, byProgram] = [makeSuite({ pages }), makeSuite({ pages })];
    await runCommand(byCommand, ["--runnable=any"]);
    await runScenarios({ cwd: byProgram, runnable: "any" });
    const comparable = (cwd: string) =>
      Object.keys(pages).map((id) => {
        const { started_at, finished_at, duration_ms, steps, ...record } = recordOf(cwd, id);
        return { ...record, steps: steps.map(({ duration_ms: _, ...step }) => step) };
      });
    expect(comparable(byProgram)).toEqual(comparable(byCommand));
  });

  it("lets the agent of the caller work in the sandbox of the caller", async () => {
    const cwd = makeSuite({ pages: { a: FOR_AGENT, tool: spec() } });
    const { executions } = await runScenarios({
      cwd,
      runnable: "any",
      agent: scripted([{ shell: "echo hello > greeting.txt" }]),
      sandbox: testIsolated(),
    });
    const runners = executions.map(({ id, agent, record: { result, runner } }) => [
      id,
      agent,
      result,
      runner.sandbox,
    ]);
    expect(runners.sort()).toEqual([
      ["a", "scripted", "passing", "test-isolated"],
      ["tool", undefined, "passing", "test-isolated"],
    ]);
  });

  it("asks a function for the sandboxes, with what the selected scenarios need", async () => {
    const cwd = makeSuite({ pages: { a: FOR_AGENT } });
    const asked: unknown[] = [];
    const { manual } = await runScenarios({
      cwd,
      only: ["a"],
      sandbox: (needs) => {
        asked.push(needs);
        return { cli: "none" };
      },
    });
    expect(asked).toEqual([{ usesMirror: false, usesAgent: true, usesModel: true }]);
    expect(manual).toBe(1);
  });

  it("reports progress in order, and survives an error of the function that it calls", async () => {
    const cwd = makeSuite({ pages: { a: spec(), lost: spec({ fixture: "fixtures/none" }) } });
    const events: ScenarioRunEvent[] = [];
    const { passing, problems } = await runScenarios({
      cwd,
      concurrency: 1,
      onProgress: (event) => {
        events.push(event);
        throw new Error("a mistake of the caller");
      },
    });
    expect(events.map(({ type }) => type)).toEqual(["planned", "finished", "problem"]);
    expect(passing).toBe(1);
    expect(problems).toMatchObject([{ subject: "lost" }]);
  });

  it("writes records to the given directory, and nowhere else", async () => {
    const cwd = makeSuite({ pages: { a: spec() } });
    const { suite } = await runScenarios({ cwd, recordsDir: "elsewhere" });
    expect(suite.recordsDir).toBe(join(cwd, "elsewhere"));
    expect(readdirSync(join(cwd, "elsewhere")).sort()).toEqual(["a", "index.json"]);
    expect(existsSync(join(cwd, "runs"))).toBe(false);
  });

  it("executes nothing in a dry run, and says what it would execute", async () => {
    const cwd = makeSuite({ pages: { a: spec(), b: FAILING } });
    const { planned, executions } = await runScenarios({ cwd, repeat: 2, dryRun: true });
    expect(planned.map(({ id, repeat }) => `${id} ${repeat?.number}`)).toEqual(["a 1", "a 2", "b 1", "b 2"]);
    expect(executions).toEqual([]);
    expect(existsSync(join(cwd, "runs"))).toBe(false);
  });

  it("rejects with the reason of an abort, ends everything, and keeps the records that exist", async () => {
    const hanging = hang();
    const cwd = makeSuite({ pages: { "a-done": spec(), "b-hangs": spec({ steps: [sh(hanging.line)] }) } });
    const controller = new AbortController();
    const running = rejection({ cwd, concurrency: 1, signal: controller.signal });
    await waitFor(() => hanging.isThere());
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await running).toBe(reason);
    expect(await rejection({ cwd, signal: controller.signal })).toBe(reason);
    expect(hanging.isThere()).toBe(false);
    expect(resultsIn(cwd)).toEqual({ "a-done": "passing" });
  });

  it.each<[string, object, string, RegExp]>([
    ["an unknown option", { concurency: 2 }, "concurency", /Did you mean concurrency\?/],
    ["an unknown scenario", { only: ["goodd"] }, "only", /there is no scenario goodd\. Did you mean good\?/],
    ["no scenario by name", { only: [] }, "only", /must not be empty/],
    ["an unknown kind", { runnable: "agnt" }, "runnable", /Did you mean agent\?/],
    ["an unknown agent", { agent: "codx" }, "agent", /Did you mean codex\?/],
    ["a model for a provider", { agent: scripted([]), model: "m" }, "model", /has its own model/],
    ["no address", { baseUrl: "example.com" }, "baseUrl", /begins with http/],
    ["sandboxes of a wrong kind", { sandbox: () => ({ cli: "docker" }) }, "cli", /sandbox provider/],
  ])("refuses %s", async (_, options, option, message) => {
    const cwd = makeSuite({ pages: { good: spec() } });
    const error = await rejection({ cwd, ...options });
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error).toMatchObject({ option, message: expect.stringMatching(message) });
    expect(existsSync(join(cwd, "runs"))).toBe(false);
  });

  it("rejects if no scenario is selected, or the suite cannot be read", async () => {
    const cwd = makeSuite({ pages: { good: spec() } });
    const nothing = await rejection({ cwd, runnable: "agent" });
    expect(nothing).toBeInstanceOf(NoScenarioSelectedError);
    expect(String(nothing)).toContain("`runnable` is agent, and the suite has 1 for cli");
    writeFileSync(join(cwd, ".sanddune/scenarios.json"), "{ half");
    expect(await rejection({ cwd })).toBeInstanceOf(ScenarioConfigError);
  });
});
