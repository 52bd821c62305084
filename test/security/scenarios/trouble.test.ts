import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { claudeCode } from "../../../src/agents/claudeCode/provider.ts";
import { command } from "../../../src/agents/command/provider.ts";
import type { AgentProvider } from "../../../src/agents/contract.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { runScenario } from "../../../src/scenarios/execution/runScenario.ts";
import type { Assertion, ScenarioStep } from "../../../src/scenarios/spec.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { scenarioScene } from "../../helpers/scenarioScene.ts";

const line = (event: object): string => `printf '%s\\n' '${JSON.stringify(event)}'`;

/** What Claude Code prints last if its model does not let it do more. */
const apiError = (status: number, text: string): string =>
  [
    line({
      type: "assistant",
      is_api_error_message: true,
      api_error_status: status,
      message: { content: [{ text }] },
    }),
    line({ type: "result", subtype: "success", is_error: true, result: text }),
    "exit 1",
  ].join("\n");

const OVERLOADED = apiError(529, "API Error: 529 overloaded_error");
const TOOL_CALL = line({
  type: "assistant",
  message: { content: [{ type: "tool_use", id: "1", name: "Bash", input: { command: "true" } }] },
});
const NOT_FOUND = "echo 'sh: agent: not found' >&2; exit 127";

interface Attempt {
  readonly agent?: AgentProvider;
  readonly sandbox?: SandboxProvider | "none";
  readonly allowed?: boolean;
  readonly assertions?: readonly Assertion[];
}

/** Has agents do steps; each does what its prompt says, which is a script, and poses as Claude Code unless told otherwise. */
const attempt = async (scripts: readonly string[], options: Attempt = {}) => {
  const { agent = claudeCode("claude-opus-4-8"), sandbox = "none", allowed = false } = options;
  const bin = temporaryDirectory();
  writeFiles(bin, { claude: "#!/bin/sh\nexec sh\n" });
  chmodSync(join(bin, "claude"), 0o755);
  const { suite, projectPath, scenarioSandbox, signal } = await scenarioScene(sandbox);
  const steps = scripts.map(
    (prompt): ScenarioStep => ({ agent: "obey", prompt, ...(allowed && { allow_nonzero: true }) }),
  );
  const {
    result,
    steps: records,
    assertions,
    notes,
  } = await runScenario({
    ...{
      suite,
      projectPath,
      scenarioSandbox,
      signal,
      baseUrl: undefined,
      usesMirror: false,
      adapter: "agent",
    },
    agent: {
      ...{ provider: agent.name, model: null, secrets: new Map(), timeoutMs: 60_000 },
      agentFor: () => agent,
      env: { values: { PATH: `${bin}:${process.env["PATH"]}` }, secrets: new Map() },
    },
    spec: {
      runnable: "agent",
      steps,
      assertions: options.assertions ?? [{ file_contains: { path: "README.md", substr: "# Fixture" } }],
    },
    redact: (text) => text,
    redactOutput: (text) => text,
  });
  return {
    result,
    notes: notes ?? "",
    codes: records.map(({ exit_code }) => exit_code),
    manual: records.map(({ manual }) => manual === true),
    graded: assertions.map(({ ok }) => ok),
  };
};

const TROUBLES: readonly (readonly [string, string])[] = [
  ["that its model is overloaded", OVERLOADED],
  ["that its key is wrong", apiError(401, "Invalid API key")],
  ["of a rate limit", apiError(429, "API Error: 429 rate limit")],
  ["that it is not installed", NOT_FOUND],
];

it.each(TROUBLES)("An agent that reports %s, and has done nothing, gets no verdict", async (_, trouble) => {
  expect(await attempt([trouble])).toMatchObject({
    result: "manual",
    codes: [0],
    manual: [true],
    graded: [],
  });
});

it.each(TROUBLES)(
  "An agent that reports %s after it has ruined the project is graded",
  async (_, trouble) => {
    const { result, notes, ...rest } = await attempt([`echo ruined > README.md; ${trouble}`]);
    expect({ result, ...rest }).toEqual({
      ...{ result: "failing", manual: [false], graded: [false] },
      codes: [trouble === NOT_FOUND ? 127 : 1],
    });
    expect(notes).toMatch(
      /^agent: obey: exit code (1|127)\n.*because an agent had changed "README\.md"\. The agent /,
    );
  },
);

it.each<[string, string]>([
  [
    "a file of the same size and the same time",
    "cp -p README.md x; sed -i s/F/G/ README.md; touch -r x README.md; rm x",
  ],
  ["a new file", "echo > new.txt"],
  ["a file that is gone", "rm README.md"],
  ["a link in its place", "mv README.md /tmp/$$; ln -s /tmp/$$ README.md"],
  ["its rights", "chmod 000 README.md"],
  ["a pipe", "mkfifo pipe"],
  ["a name that is not UTF-8", "echo > \"$(printf 'a\\377')\""],
  [
    "a directory deeper than any path",
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do d=$(printf %0250d 0); mkdir $d; cd $d; done",
  ],
  ["a file of a terabyte", "truncate -s 1T big"],
])("What an agent has changed is found: %s", async (_, change) => {
  const { notes } = await attempt([`${change}; ${OVERLOADED}`]);
  expect(notes).toContain("graded all the same, because an agent had changed");
});

it("A program without tool calls that changes files and says that it was not found is graded", async () => {
  const attempted = await attempt([`echo ruined > README.md; ${NOT_FOUND}`], { agent: command("sh") });
  expect(attempted).toMatchObject({ result: "failing", codes: [127], graded: [false] });
});

it("An agent that has called a tool is graded, though the project is as it was", async () => {
  const { result, graded, notes } = await attempt([`${TOOL_CALL}; ${OVERLOADED}`]);
  expect({ result, graded }).toEqual({ result: "failing", graded: [true] });
  expect(notes).toContain("because an agent had called a tool. The agent claude-code failed: API Error: 529");
});

it("An agent that worked in an earlier step is graded, whatever error it reports in a later one", async () => {
  const done = `echo ruined > README.md; ${line({ type: "result", subtype: "success", is_error: false, result: "Done." })}`;
  const { result, codes, graded, notes } = await attempt([done, OVERLOADED]);
  expect({ result, codes, graded }).toEqual({ result: "failing", codes: [0, 1], graded: [false] });
  expect(notes).toContain('because an agent had changed "README.md"');
});

it("Where a step may fail, the assertions decide, and the notes tell of the trouble", async () => {
  const { result, notes } = await attempt([`echo > new.txt; ${OVERLOADED}`], { allowed: true });
  expect(result).toBe("passing");
  expect(notes).toMatch(/^agent: obey: graded all the same, because an agent had changed "new\.txt"\./);
});

it("In an isolated sandbox, only changed files count as a trace of the agent", async () => {
  const sandbox = testIsolated();
  expect(await attempt([OVERLOADED], { sandbox })).toMatchObject({ result: "manual" });
  const ruined = await attempt([`echo ruined > README.md; ${OVERLOADED}`], { sandbox });
  expect(ruined).toMatchObject({ result: "failing", graded: [false] });
});

it("A project that is refused when it is copied back is graded as failing, also if the step may fail", async () => {
  const refused = `project=$PWD; cd ..; rm -r "$project"; echo > "$project"; ${OVERLOADED}`;
  const options = { sandbox: testIsolated(), allowed: true, assertions: [{ file_absent: "none" }] };
  expect(await attempt([refused], options)).toMatchObject({ result: "failing", manual: [false] });
});
