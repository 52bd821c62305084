import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentIteration,
  createSandbox,
  EnvironmentError,
  EnvironmentStartError,
  type RunOptions,
  run,
  type SandboxProvider,
  type ScriptedStep,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { environmentFolder, GREETING_TESTS, greetingEnvironment } from "../../helpers/environments.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { commandLines } from "../../helpers/processes/processes.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime } from "../../helpers/runtimes/runtimes.ts";

const write = (text: string): ScriptedStep => ({
  commit: `Say ${text}`,
  files: { "hello.txt": `${text}\n` },
});

/** An agent that greets wrongly at first, and remembers what it was told. */
const learning = () => {
  const prompts: string[] = [];
  const agent = scripted(({ prompt, iteration }: AgentIteration) => {
    prompts.push(prompt);
    return [write(iteration === 1 ? "goodbye" : "hello")];
  });
  return { agent, prompts };
};

const greet = (sandbox: SandboxProvider, options: Partial<RunOptions>) =>
  run({
    agent: scripted([write("hello")]),
    sandbox,
    cwd: temporaryRepository(),
    branchStrategy: { type: "branch", branch: "agent/greet" },
    prompt: "Greet the world.",
    ...options,
  } as RunOptions);

const PLACES = {
  shared: "in the agent's sandbox",
  strict: "in a sandbox of their own",
} as const;

const CASES: [string, Runtime[], () => SandboxProvider, keyof typeof PLACES][] = [
  ["test-isolated", [], () => testIsolated(), "shared"],
  ["test-isolated", [], () => testIsolated(), "strict"],
  ["bubblewrap", ["bubblewrap"], () => bubblewrap(), "shared"],
];

/** With a set-up that has to be done once, and that starts something which has to go on: both are tested. */
const environmentWithService = (mark: string): string =>
  greetingEnvironment({
    "setup.sh": `echo setting up; date +%N >>"$SANDDUNE_SCRATCH/made"
sh -c 'while :; do date +%s%N >"$SANDDUNE_SCRATCH/beat"; sleep 0.05; done' ${mark} >/dev/null 2>&1 &`,
    "environment.mjs": `import { readFileSync } from "node:fs";
import greeting from "./greeting.mjs";
import { defineEnvironment } from "@missingstudio/sanddune/environment";

const read = 'cat "$SANDDUNE_SCRATCH/beat"';
export default defineEnvironment({
  tests: {
    ...greeting.tests,
    "service/beats": ({ run }) => run('first=$(' + read + '); while [ "$first" = "$(' + read + ')" ]; do sleep 0.02; done'),
    "setup/once": ({ scratch }) => {
      const lines = readFileSync(scratch + "/made", "utf8").trim().split("\\n");
      if (lines.length !== 1) throw new Error("set up " + lines.length + " times");
    },
  },
});
`,
    "greeting.mjs": GREETING_TESTS,
  });

for (const [name, runtimes, sandbox, isolation] of CASES) {
  describeWith(runtimes, `a run in ${name} with an environment`, () => {
    it(`continues until the tests ${PLACES[isolation]} pass, tells the agent what still fails, and leaves what setup.sh has started at work until it ends`, async () => {
      const mark = randomUUID();
      const { agent, prompts } = learning();
      const environment = { path: environmentWithService(mark), isolation };
      const { runId, iterations, warnings } = await greet(sandbox(), {
        ...{ agent, environment, until: "tests-pass", maxIterations: 5 },
      });
      expect(iterations.map(({ tests }) => tests)).toMatchObject([
        { path: "", passed: 3, failed: 1, total: 4, error: null },
        { path: "", passed: 4, failed: 0, total: 4, error: null },
      ]);
      expect(commandLines().filter((line) => line.includes(runId))).toEqual([]);
      await waitFor(() => !commandLines().some((line) => line.includes(mark)));
      expect(prompts[0]).toBe("Greet the world.");
      expect(prompts[1]).toMatch(
        /^Greet the world\.\n\n.*3 of 4 tests passed.*greeting\/text.*it does not greet/s,
      );
      expect(warnings).toEqual([]);
    });
  });
}

describe("a run with an environment", () => {
  it("continues if the environment cannot be set up again for the tests after an iteration, and says why", async () => {
    const mark = join(temporaryDirectory(), "mark");
    const setup = `if [ -e ${mark} ]; then echo the mirror is down; exit 3; fi; touch ${mark}`;
    const { agent, prompts } = learning();
    const { iterations, commits } = await greet(testIsolated(), {
      ...{
        agent,
        environment: greetingEnvironment({ "setup.sh": setup }),
        maxIterations: 2,
        completionSignal: "never",
      },
    });
    expect(commits).toHaveLength(2);
    expect(iterations[0]?.tests).toMatchObject({
      total: 0,
      error: expect.stringContaining("the mirror is down"),
    });
    expect(prompts[1]).toContain("the mirror is down");
  });

  it.each(["shared", "strict"] as const)(
    "fails before the agent begins, with the end of the log, if the set-up fails (%s)",
    async (isolation) => {
      const cwd = temporaryRepository();
      const path = greetingEnvironment({ "setup.sh": "echo fetching; echo 'no such mirror' >&2; exit 3\n" });
      const agent = scripted([write("hello")]);
      const failed = greet(testIsolated(), { cwd, agent, environment: { path, isolation } });
      await expect(failed).rejects.toThrow(EnvironmentStartError);
      await expect(failed).rejects.toThrow(/no such mirror/);
      await expect(failed).rejects.toMatchObject({ commits: [], iterations: [] });
      expect(leftovers(cwd)).toEqual([]);
    },
  );

  it("is refused before anything is created, if the environment cannot be used", async () => {
    const cwd = temporaryRepository();
    const refused = greet(testIsolated(), { cwd, environment: "no/such/folder" });
    await expect(refused).rejects.toThrow(EnvironmentError);
    await expect(refused).rejects.toThrow(/there is no such folder/);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });

  it("kills its tests when it is aborted, and leaves nothing running", async () => {
    const cwd = temporaryRepository();
    const marker = `sanddune-endless-${randomUUID()}`;
    const path = environmentFolder({
      "environment.mjs": `import { defineEnvironment } from "@missingstudio/sanddune/environment";
export default defineEnvironment({ timeoutMs: 600_000, tests: { endless: ({ run }) => run("sleep 600; : ${marker}") } });
`,
    });
    const controller = new AbortController();
    const running = greet(testIsolated(), { cwd, environment: path, signal: controller.signal });
    const reason = new Error("enough");
    await waitFor(() => commandLines().some((line) => line.includes(marker)), 50_000);
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
  });

  it("takes a lasting sandbox's environment, which is set up once for all its runs; gives the agent an address and a token for its tests, which are not told; stops after the last iteration with a warning, if the tests do not pass, whatever the agent says", async () => {
    await using sandbox = await createSandbox({
      branch: "agent/lasting",
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      environment: greetingEnvironment(),
    });
    const ask = `node --input-type=module -e '
      const { SANDDUNE_TESTS_URL: url, SANDDUNE_TESTS_TOKEN: token } = process.env;
      const headers = { authorization: "Bearer " + token };
      const { passed, failed } = await (await fetch(url + "/run", { method: "POST", headers })).json();
      const { status } = await fetch(url + "/run", { method: "POST" });
      console.log(JSON.stringify({ passed, failed, status, token }));
    '`;
    const wrong = scripted(({ iteration }) => [
      write("goodbye"),
      ...(iteration === 1 ? [{ shell: ask }] : []),
      { text: "<promise>COMPLETE</promise>" },
    ]);
    const printed: string[] = [];
    const stopped = await sandbox.run({
      ...{ agent: wrong, prompt: "Greet.", until: "tests-pass", maxIterations: 2 },
      logging: {
        type: "file",
        onAgentStreamEvent: (event) => {
          if (event.type === "toolResult") printed.push(event.output);
        },
      },
    });
    expect(printed.map((line) => JSON.parse(line))).toEqual([
      { passed: 1, failed: 1, status: 401, token: "[redacted environment token]" },
    ]);
    expect(stopped.iterations).toMatchObject([{ tests: { passed: 1 } }, { tests: { passed: 1 } }]);
    expect(stopped.completionSignal).toBe("<promise>COMPLETE</promise>");
    expect(stopped.warnings).toEqual([expect.stringMatching(/still failed .*: 1 of 2 tests pass\./)]);
    expect(stopped.commits.length).toBeGreaterThan(0);

    // Without `until`, results are told all the same.
    const right = await sandbox.run({ agent: scripted([write("hello")]), prompt: "Greet." });
    expect(right.iterations).toMatchObject([{ tests: { passed: 2 } }]);
  });
});
