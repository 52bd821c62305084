import { expect, it } from "vitest";
import { command } from "../../../src/agents/command/provider.ts";
import type { AgentSetup } from "../../../src/scenarios/agents/agentSetup.ts";
import { runScenario } from "../../../src/scenarios/execution/runScenario.ts";
import type { ScenarioSpec, ScenarioStep } from "../../../src/scenarios/spec.ts";
import { scenarioScene } from "../../helpers/scenarioScene.ts";

/** An agent that does what its prompt says, which is a line for the shell. */
const OBEDIENT: AgentSetup = {
  provider: "command",
  model: null,
  secrets: new Map(),
  agentFor: () => command("sh"),
  env: { values: {}, secrets: new Map() },
  timeoutMs: 60_000,
};

const ABSENT: AgentSetup = { provider: "pi", model: null, secrets: new Map(), manual: "no key" };

const execute = async (spec: Omit<ScenarioSpec, "runnable">, setup: AgentSetup = OBEDIENT) => {
  const { suite, projectPath, scenarioSandbox, signal } = await scenarioScene("none");
  return runScenario({
    ...{ suite, projectPath, scenarioSandbox, signal, agent: setup, baseUrl: undefined, usesMirror: false },
    spec: { runnable: "agent", ...spec },
    adapter: "agent",
    redact: (text) => text,
    redactOutput: (text) => text,
  });
};

const agent = (prompt: string): ScenarioStep => ({ agent: "obey", prompt });
const write = (content: string): ScenarioStep => ({ write_file: { path: "check.sh", content } });

const HOLDS = [{ file_exists: "README.md" }];

it("a step that may fail and does is recorded as allowed, and the next one is done", async () => {
  const steps: ScenarioStep[] = [
    { cmd: ["false"], allow_nonzero: true },
    { cmd: ["true"], allow_nonzero: true },
  ];
  const { result, steps: records } = await execute({ steps, assertions: HOLDS });
  expect(result).toBe("passing");
  expect(records.map(({ exit_code, allow_nonzero }) => [exit_code, allow_nonzero])).toEqual([
    [1, true],
    [0, undefined],
  ]);
});

it("a step that takes too long fails the scenario, also if it may fail", async () => {
  const steps: ScenarioStep[] = [
    { cmd: ["sleep", "60"], timeout_ms: 50, allow_nonzero: true },
    { cmd: ["true"] },
  ];
  const { result, steps: records, notes } = await execute({ steps, assertions: HOLDS });
  expect(result).toBe("failing");
  expect(records.map(({ exit_code, allow_nonzero }) => [exit_code, allow_nonzero])).toEqual([
    [124, undefined],
  ]);
  expect(notes).toContain("exit code 124");
});

it.each([
  ["that leaves its group and its session", "setsid"],
  ["that clears its environment", "env -i setsid"],
])("a process %s is gone before anything is graded", async (_, leave) => {
  const { result } = await execute({
    steps: [
      {
        cmd: [
          "sh",
          "-c",
          `${leave} sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 </dev/null & while ! [ -s pid ]; do sleep 0.02; done`,
        ],
      },
    ],
    // Nobody may have collected it yet: then it is there by its number, and nothing else.
    assertions: [{ cmd_zero: ["sh", "-c", "! grep -q sleep /proc/$(cat pid)/cmdline 2>/dev/null"] }],
  });
  expect(result).toBe("passing");
});

const CHECK = ["sh", "check.sh"];
const CHEAT = agent("echo 'exit 0' > check.sh");

it.each<[string, ScenarioStep[]]>([
  ["before an assertion", [write("exit 1"), CHEAT]],
  ["before a step", [write("exit 1"), CHEAT, { cmd: CHECK }]],
  ["if it was written between two agents", [agent("true"), write("exit 1"), CHEAT]],
  [
    "if it was written after an agent that has left a cheat there",
    [CHEAT, write("exit 1"), { cmd: ["true"] }],
  ],
  ["if the page has written it anew since", [write("exit 0"), agent("true"), write("exit 1"), CHEAT]],
])("what an agent makes of a file that the page uses is undone %s", async (_, steps) => {
  const { result } = await execute({ steps, assertions: [{ cmd_zero: CHECK }] });
  expect(result).toBe("failing");
});

it("what the page itself makes of such a file later stays", async () => {
  const steps = [write("exit 1"), agent("true"), write("exit 0"), agent("true")];
  const { result, notes } = await execute({ steps, assertions: [{ cmd_zero: CHECK }] });
  expect({ result, notes }).toEqual({ result: "passing", notes: undefined });
});

it.each([
  ["a link", "ln -s README.md check.sh"],
  ["a directory", "mkdir check.sh"],
  ["a link to a directory on the way", "mkdir elsewhere; rm -rf tools; ln -s elsewhere tools"],
])("a file that the page writes after an agent that has left %s there is a failed step", async (_, leave) => {
  const path = leave.includes("tools") ? "tools/check.sh" : "check.sh";
  const { result, steps } = await execute({
    steps: [agent(leave), { write_file: { path, content: "exit 0" } }, { cmd: ["true"] }],
    assertions: [{ cmd_zero: ["sh", path] }],
  });
  expect(result).toBe("failing");
  expect(steps.map(({ exit_code }) => exit_code)).toEqual([0, 1]);
  expect(steps[1]?.stderr_tail).toMatch(/check\.sh: /);
});

it("a step after an agent that cannot write its file fails, and the assertions are checked", async () => {
  const cannot = { write_file: { path: "check.sh", content: "exit 0" }, allow_nonzero: true };
  const { result, steps, assertions } = await execute({
    steps: [agent("ln -s /etc check.sh"), cannot, agent("true"), { ...cannot, allow_nonzero: false }],
    assertions: [...HOLDS, { cmd_zero: ["test", "-f", "check.sh"] }],
  });
  expect(result).toBe("failing");
  expect(steps.map(({ exit_code }) => exit_code)).toEqual([0, 1, 0, 1]);
  expect(assertions.map(({ ok }) => ok)).toEqual([true, false]);
});

it("a command of the page that changes what its assertions use is undone, and the notes say so", async () => {
  const { result, notes } = await execute({
    steps: [write("exit 0"), agent("true"), { cmd: ["sh", "-c", "echo exit 1 > check.sh"] }],
    assertions: [{ cmd_zero: CHECK }],
  });
  expect(result).toBe("passing");
  expect(notes).toBe(
    "check.sh, which the assertions use, was changed after the agent had started: it was put back.",
  );
});

it("processes that a command has left running, which may be the agent's, are ended before the next command", async () => {
  const daemon = `setsid sh -c 'while :; do echo "exit 0" > check.sh; echo > beat; done' >/dev/null 2>&1 </dev/null &`;
  const { result } = await execute({
    steps: [
      write("exit 1"),
      agent(`cat > build.sh <<'EOF'\n${daemon}\nwhile ! [ -e beat ]; do sleep 0.02; done\nEOF`),
      { cmd: ["sh", "build.sh"] },
      // Long enough for whatever still runs to write once more.
      { cmd: ["sh", "-c", "rm beat; sleep 0.2; ! [ -e beat ]"] },
    ],
    assertions: [{ cmd_nonzero: CHECK }],
  });
  expect(result).toBe("passing");
});

it("a prerequisite that fails makes the scenario failing, also if its agent is unavailable", async () => {
  const parts = { steps: [agent("true")], assertions: HOLDS };
  for (const setup of [OBEDIENT, ABSENT]) {
    const broken = await execute({ prerequisites: [{ cmd: ["false"] }], ...parts }, setup);
    expect(broken).toMatchObject({ result: "failing", notes: expect.stringContaining("prereq: cmd: false") });
  }
  const { result, notes, steps } = await execute({ prerequisites: [{ cmd: ["true"] }], ...parts }, ABSENT);
  expect({ result, notes }).toEqual({ result: "manual", notes: "no key" });
  expect(steps).toMatchObject([{ exit_code: 0 }, { name: "agent: obey", exit_code: 0, manual: true }]);
});
