import { describe, expect, it } from "vitest";
import { command, Output, run, type StandardSchema } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { needsRuntimes } from "../../helpers/runtimes/runtimes.ts";
import { eventAgent, formsIn, leaksIn, SECRET, tracesOf } from "./traces.ts";

needsRuntimes("bubblewrap");

const anything: StandardSchema = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

const QUOTED = `K=$(printf %s "$API_KEY" | sed 's/"/\\\\"/g')`;

describe("structured output holds no secret", () => {
  it.each([
    ["as JSON has it", QUOTED],
    ["with escaped slashes", `K=$(printf %s "$API_KEY" | sed 's/"/\\\\"/g; s,/,\\\\/,g')`],
    ["with its first letter escaped", `K=$(printf %s "$API_KEY" | sed 's/"/\\\\"/g; s/^t/\\\\u0074/')`],
  ])("%s", async (_, quote) => {
    const { output, stdout } = await run({
      agent: command(`${quote}; printf '<answer>{"key":"%s"}</answer>' "$K"`),
      sandbox: bubblewrap(),
      cwd: temporaryRepository(),
      prompt: "Work",
      env: { API_KEY: SECRET },
      output: Output.object({ tag: "answer", schema: anything }),
    });
    expect(stdout).toContain("<answer>");
    expect(formsIn(JSON.stringify(output))).toEqual([]);
  });

  it("as a string", async () => {
    const { output } = await run({
      agent: command('echo "<answer>$API_KEY</answer>"'),
      sandbox: bubblewrap(),
      cwd: temporaryRepository(),
      prompt: "Work",
      env: { API_KEY: SECRET },
      output: Output.string({ tag: "answer" }),
    });
    expect(output).toBe("[redacted API_KEY]");
  });

  it("when it is wrong", async () => {
    const cwd = temporaryRepository();
    const ended = await run({
      agent: command('echo "<answer>{$API_KEY</answer>"'),
      sandbox: bubblewrap(),
      cwd,
      prompt: "Work",
      env: { API_KEY: SECRET },
      output: Output.object({ tag: "answer", schema: anything }),
    }).catch((error: Error) => error);
    expect(ended).toMatchObject({ name: "StructuredOutputError" });
    expect(leaksIn(tracesOf(cwd, { ended, events: [] }))).toEqual([]);
  });
});

it("what is public is shown as it is", async () => {
  const { stdout } = await run({
    agent: command('echo "$SHOWN"'),
    sandbox: bubblewrap(),
    cwd: temporaryRepository(),
    prompt: "Work",
    env: { SHOWN: { public: "nothing-to-hide" } },
  });
  expect(stdout).toBe("nothing-to-hide\n");
});

it.each([
  "succeeded",
  "worktree",
  "toolResult",
  "iteration",
  "bubblewrap",
  "timestamp",
  "agent/work",
  "README.md",
])("a run works although one of its values is the word %s", async (word) => {
  const cwd = temporaryRepository();
  const agent = eventAgent(
    `echo '{"type":"toolCall","name":"sh","input":{}}'; echo '{"type":"toolResult","output":"x"}'
       echo "# Changed" > README.md; git commit -q -a -m Work; echo noise >&2`,
  );
  const ended = await run({
    agent,
    sandbox: bubblewrap(),
    cwd,
    prompt: "Work",
    branchStrategy: { type: "branch", branch: "agent/work" },
    env: { MODE: word },
  });
  expect(ended).toMatchObject({ branch: "agent/work", commits: [expect.anything()] });
  const isShownAnyway = ["bubblewrap", "agent/work"].includes(word);
  expect(ended.warnings).toEqual(isShownAnyway ? [expect.stringContaining("MODE")] : []);
  const traces = tracesOf(cwd, { ended, events: [] });
  const journal = Object.entries(traces).find(([place]) => place.endsWith("journal.jsonl"))?.[1] ?? "";
  const entries = journal
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries.at(0)).toMatchObject({ type: "begun", sandbox: "bubblewrap", sourceBranch: "agent/work" });
  expect(entries.at(-1)).toMatchObject({ type: "ended", state: "succeeded" });
  expect(entries).toContainEqual(expect.objectContaining({ type: "creating", what: "worktree" }));
});
