import { expect, it } from "vitest";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { runScenario } from "../../../src/scenarios/execution/runScenario.ts";
import type { ScenarioSpec } from "../../../src/scenarios/spec.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { scenarioScene } from "../../helpers/scenarioScene.ts";

useOwnTemporaryDirectory();

const grade = async (spec: Omit<ScenarioSpec, "runnable">) => {
  const { suite, projectPath, scenarioSandbox, signal } = await scenarioScene(testIsolated());
  return runScenario({
    ...{ suite, projectPath, scenarioSandbox, signal },
    spec: { runnable: "cli", ...spec },
    adapter: "cli",
    agent: undefined,
    baseUrl: undefined,
    usesMirror: false,
    redact: (text) => text,
    redactOutput: (text) => text,
  });
};

it("commands in an isolated sandbox, and steps that write files, see each other's changes", async () => {
  const { result, steps } = await grade({
    steps: [
      { cmd: ["sh", "-c", "echo one > one.txt"] },
      { append_to_file: { path: "one.txt", content: "two\n" } },
      { cmd: ["sh", "-c", "cat one.txt && echo three >> one.txt"] },
    ],
    assertions: [{ file_contains: { path: "one.txt", substr: "one\ntwo\nthree\n" } }],
  });
  expect(steps.map(({ stdout_tail }) => stdout_tail)).toEqual(["", "appended to one.txt", "one\ntwo"]);
  expect(result).toBe("passing");
});

it("an assertion about a file sees what the command of the one before has made of it", async () => {
  const { result, assertions } = await grade({
    steps: [{ cmd: ["true"] }],
    assertions: [{ cmd_zero: ["sh", "-c", "echo built > built.txt"] }, { file_exists: "built.txt" }],
  });
  expect(assertions.map(({ ok }) => ok)).toEqual([true, true]);
  expect(result).toBe("passing");
});

it("commands that leave no project behind fail the scenario, whenever that is found out", async () => {
  const replace = ["sh", "-c", 'rm -rf "$PWD" && echo mine >"$PWD"'];
  const early = await grade({ steps: [{ cmd: replace }], assertions: [{ file_absent: "README.md" }] });
  expect(early).toMatchObject({ result: "failing", steps: [{ exit_code: 0 }], assertions: [] });
  expect(early.notes).toContain("the project is refused");
  const late = await grade({ steps: [{ cmd: ["true"] }], assertions: [{ cmd_nonzero: replace }] });
  expect(late).toMatchObject({ result: "failing", assertions: [{ ok: false, detail: "exit code 0" }] });
});
