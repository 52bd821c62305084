import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { stepLines } from "../../../src/cli/replay/step.ts";
import { replayTable } from "../../../src/cli/replay/table.ts";
import { type AgentEvent, type AgentProvider, run } from "../../../src/index.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { evaluateSteps } from "../../../src/trajectory/read/evaluate.ts";
import { openReplay, type Replay } from "../../../src/trajectory/read/replay.ts";
import { trajectoryPage } from "../../../src/trajectory/show/html.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { BRANCH, directoryOf } from "../recording.ts";

const MILLION = 1_000_000;

const say = (event: AgentEvent): string => `printf '%s\\n' '${JSON.stringify(event)}'`;

const use = (outputTokens: number): string =>
  say({
    type: "usage",
    usage: { inputTokens: 0, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, outputTokens },
  });

/** An agent that greets wrongly at first. It says what it has used after each action, and speaks at the end of its turn. */
const agent: AgentProvider = {
  name: "speaking",
  model: "large-1",
  env: { SECRET: "s3cr3t-value" },
  reportsUsage: "perCall",
  installation: { versionCommand: ["sh", "-c", "echo 1.2.3; echo more"], dockerfile: [], credentials: [] },
  buildCommand: ({ iteration, prompt }) => {
    const greeting = iteration === 1 ? "goodbye" : "hello";
    const lines = [
      say({ type: "toolCall", name: "write", input: { text: greeting }, id: "1" }),
      `echo ${greeting} > hello.txt && git add . && git commit --quiet --message ${greeting}`,
      use(iteration * MILLION),
      say({ type: "toolResult", output: "written", id: "1" }),
      say({ type: "text", text: `The end of turn ${iteration}.` }),
      use(MILLION),
    ];
    return { command: lines.join("\n"), stdin: prompt };
  },
  createParser: () => (line, stream) => {
    try {
      return [JSON.parse(line) as AgentEvent];
    } catch {
      return [{ type: "raw", line, stream }];
    }
  },
};

const recorded = async () => {
  const cwd = temporaryRepository();
  const result = await run({
    ...{ agent, cwd, sandbox: testIsolated(), branchStrategy: BRANCH, trajectory: true },
    ...{ environment: greetingEnvironment(), until: "tests-pass", maxIterations: 3 },
    ...{ prompt: "Greet. The password is s3cr3t-value.", maxCostUsd: 1000 },
    prices: { inputPerMillion: 1, outputPerMillion: 2 },
  });
  const repository = await findRepository(cwd);
  const runDirectory = directoryOf(cwd, result);
  return { runDirectory, open: () => openReplay(repository, { runId: result.runId, runDirectory }) };
};

const step = ({ steps }: Replay, number: number) => {
  const found = steps[number];
  if (found === undefined) throw new Error(`there is no step ${number}`);
  return found;
};

it("a replay shows the agent, its prompt, and the expense of each iteration and step", async () => {
  const { open } = await recorded();
  const replay = await open();
  expect(replay.run).toMatchObject({ agent: "speaking", model: "large-1", agentVersion: "1.2.3" });
  const table = replayTable(replay);
  expect(table.slice(1, 5)).toEqual([
    "Model: large-1",
    "Agent version: 1.2.3",
    expect.stringMatching(/^Took: .*, 5\.0M tokens, \$10\.00$/),
    expect.stringMatching(/^Prompt: Greet\. The password is (?!s3cr3t)/),
  ]);
  expect(
    table.slice(5).map((line) =>
      line
        .replace(/\d+\.\d s/, "T")
        .split(/ {2,}/)
        .slice(0, 6),
    ),
  ).toEqual([
    ["STEP", "TOOL", "FILES", "TESTS", "TIME", "TOKENS"],
    ["0", "before the first action"],
    ["Iteration 1: T, 2.0M tokens, $4.00"],
    ["1", "write", "1 file, +1 -0", "1/2", "T", "1.0M"],
    ["Iteration 2: T, 3.0M tokens, $6.00"],
    ["2", "write", "1 file, +1 -1", "2/2", "T", "2.0M"],
  ]);
  const narrow = replayTable(replay, 80);
  expect(narrow.find((line) => line.startsWith("STEP"))?.split(/ +/)).toEqual([
    ...["STEP", "TOOL", "FILES", "TESTS", "WHAT"],
  ]);
  expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(80);
});

it("the last words of an iteration are at its end, and its prompt is at its beginning", async () => {
  const { open } = await recorded();
  const replay = await open();
  const [zero, one, two] = [0, 1, 2].map((number) => stepLines(replay, step(replay, number), "").join("\n"));
  expect(zero).toContain("Prompt of iteration 1:\nGreet.");
  expect(one).toMatch(/Iteration 1, took .* s, 1\.0M tokens, \$2\.00\n/);
  expect(one).toContain("At the end of iteration 1:\nThe end of turn 1.");
  expect(two).toMatch(/Prompt of iteration 2:\nGreet\.[\s\S]*1 of 2 tests passed/);
  expect(two).not.toContain("The end of turn 1.");
  const page = await trajectoryPage(replay);
  const places = [
    "Iteration 1</h2>",
    "The end of turn 1.",
    "Iteration 2</h2>",
    'id="step-2"',
    "The end of turn 2.",
  ];
  expect(places.map((text) => page.indexOf(text))).toEqual(
    places.map((text) => page.indexOf(text)).sort((before, after) => before - after),
  );
  expect(page).not.toContain("s3cr3t-value");
});

it("results of another environment have a column of their own, and are kept a line each", async () => {
  const { open, runDirectory } = await recorded();
  const results = { path: "", passed: 3, failed: 6, total: 9, tests: [], error: null };
  await evaluateSteps(await open(), { environment: "/home/dev/hidden", evaluateCommit: async () => results });
  const replay = await open();
  const rows = replayTable(replay).filter((line) => /^(STEP|\d)/.test(line));
  expect(rows.map((line) => line.match(/TESTS|hidden|\d+\/\d+/g))).toEqual([
    ["TESTS", "hidden"],
    ["3/9"],
    ["1/2", "3/9"],
    ["2/2", "3/9"],
  ]);
  const kept = readFileSync(join(runDirectory, "evaluations.jsonl"), "utf8");
  expect(kept).not.toMatch(/^\n|\n\n/);
  expect(kept.trimEnd().split("\n")).toHaveLength(3);
});
