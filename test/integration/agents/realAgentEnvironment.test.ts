import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AgentProvider, codex } from "../../../src/index.ts";
import { greetingEnvironment } from "../../helpers/environments.ts";
import type { ScriptedCall } from "../../helpers/modelServer/script.ts";
import { describeSideBySide } from "../../helpers/processes/sideBySide.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  AGENTS,
  type AgentName,
  PATIENCE,
  PROVIDERS,
  runReal,
  scriptedModel,
  turnsOf,
} from "./realAgents.ts";

interface Case {
  readonly agent: AgentName;
  readonly isolation: "shared" | "strict";
  /** What the model calls the tool. */
  readonly tool: string;
  readonly provider?: (model: string) => AgentProvider;
}

const CASES: readonly Case[] = [
  { agent: "claude", isolation: "strict", tool: "mcp__sanddune__run_tests" },
  // A model that it knows has to search for tools; this one is offered all of them.
  { agent: "codex", isolation: "shared", tool: "run_tests", provider: () => codex("gpt-6") },
  { agent: "opencode", isolation: "shared", tool: "sanddune_run_tests" },
  { agent: "pi", isolation: "shared", tool: "sanddune_run_tests" },
];

const commit = (text: string): ScriptedCall => ({
  shell: `echo ${text} > hello.txt && git add hello.txt && git commit -qm 'Say ${text}'`,
});

/** How many tests have passed, as the model was told: some agents hand it the text of results, others their structure. */
const toldBy = (turn: string): string[] =>
  [...turn.matchAll(/(\d) of 2 tests passed|passed\W+(\d),\W+failed/g)].map(
    ([, text, structure]) => `${text ?? structure} passed`,
  );

/** Whether the files after an action of the agent have been seen. The test reads them while the agent works. */
const hasCheckpoint = (cwd: string): boolean => {
  const runs = join(cwd, ".sanddune/runs");
  return readdirSync(runs)
    .map((runId) => join(runs, runId, "trajectory.jsonl"))
    .some((path) => existsSync(path) && readFileSync(path, "utf8").includes('"type":"checkpoint"'));
};

describeSideBySide("tests of an environment", () => {
  for (const { agent, isolation, tool, provider = PROVIDERS[agent] } of CASES) {
    describeWith(
      [AGENTS[agent].runtime, "bubblewrap"],
      `the real ${agent} with an environment, ${isolation}`,
      () => {
        it(
          "runs the tests, reads what fails, mends it, runs them again, and the run stops",
          PATIENCE,
          async () => {
            const cwd = temporaryRepository();
            const model = await scriptedModel([
              { calls: [commit("goodbye")] },
              { calls: [{ name: tool, input: { test_path: "greeting" } }] },
              { calls: [commit("hello")], after: () => waitFor(() => hasCheckpoint(cwd), 100_000) },
              { calls: [{ name: tool, input: {} }] },
              { text: "All tests pass." },
            ]);
            const { runId, iterations, commits, branch } = await runReal({
              ...{ agent, sandbox: "bubblewrap", model, cwd },
              // Sessions have tests of their own.
              provider: (name) => ({ ...provider(name), captureSessions: false }),
              options: {
                environment: { path: greetingEnvironment(), isolation },
                until: "tests-pass",
                maxIterations: 3,
                trajectory: true,
              },
            });
            const [, , afterFirst = "", , afterSecond = ""] = turnsOf(model);
            expect(toldBy(afterFirst)).toEqual(["1 passed"]);
            expect(afterFirst).toContain("it does not greet");
            expect(toldBy(afterSecond)).toEqual(["1 passed", "2 passed"]);
            expect(iterations.map(({ tests }) => tests)).toMatchObject([
              { passed: 2, failed: 0, total: 2, error: null },
            ]);
            expect(commits).toHaveLength(2);
            const checkpoints = git(
              cwd,
              "for-each-ref",
              "--format=%(refname)",
              `refs/sanddune/${runId}/checkpoints`,
            );
            const greetings = checkpoints.split("\n").map((ref) => git(cwd, "show", `${ref}:hello.txt`));
            expect(greetings).toEqual(["goodbye", "hello"]);
            expect(git(cwd, "show", `${branch}:hello.txt`)).toBe("hello");
            expect(git(cwd, "ls-tree", "-r", "--name-only", branch).split("\n")).toEqual([
              "README.md",
              "hello.txt",
            ]);
          },
        );
      },
    );
  }
});
