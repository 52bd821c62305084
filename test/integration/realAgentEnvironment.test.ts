import { expect, it } from "vitest";
import { type AgentProvider, codex } from "../../src/index.ts";
import { greetingEnvironment } from "../helpers/environments.ts";
import type { ScriptedCall } from "../helpers/modelServer/script.ts";
import { git, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { AGENTS, type AgentName, runReal, scriptedModel, temporaryHome, turnsOf } from "./realAgents.ts";

/** opencode alone takes half a minute on a busy machine. */
const TIMEOUT_MS = 150_000;

interface Case {
  readonly agent: AgentName;
  readonly isolation: "shared" | "strict";
  /** What the model calls the tool. */
  readonly tool: string;
  readonly provider?: (model: string) => AgentProvider;
}

const CASES: readonly Case[] = [
  { agent: "claude", isolation: "shared", tool: "mcp__sanddune__run_tests" },
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

for (const { agent, isolation, tool, provider } of CASES) {
  describeWith(
    [AGENTS[agent].runtime, "bubblewrap"],
    `the real ${agent} with an environment, ${isolation}`,
    () => {
      it(
        "runs the tests, reads what fails, mends it, runs them again, and the run stops",
        async () => {
          temporaryHome();
          const cwd = temporaryRepository();
          const model = await scriptedModel([
            { calls: [commit("goodbye")] },
            { calls: [{ name: tool, input: { test_path: "greeting" } }] },
            { calls: [commit("hello")] },
            { calls: [{ name: tool, input: {} }] },
            { text: "All tests pass." },
          ]);
          const { runId, iterations, commits, branch } = await runReal({
            ...{ agent, sandbox: "bubblewrap", model, cwd },
            ...(provider && { provider }),
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
          // On a busy machine a checkpoint may come so late that it holds the next action, too.
          expect(greetings.at(-1)).toBe("hello");
          expect(greetings.slice(0, -1).filter((greeting) => greeting !== "goodbye")).toEqual([]);
          expect(git(cwd, "show", `${branch}:hello.txt`)).toBe("hello");
          expect(git(cwd, "ls-tree", "-r", "--name-only", branch).split("\n")).toEqual([
            "README.md",
            "hello.txt",
          ]);
        },
        TIMEOUT_MS,
      );
    },
  );
}
