import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AgentIteration,
  createSandbox,
  EnvironmentError,
  EnvironmentStartError,
  InvalidOptionsError,
  type RunOptions,
  run,
  type SandboxProvider,
  type ScriptedStep,
  scripted,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { commandLines } from "../helpers/commandLines.ts";
import { environmentFolder, greetingEnvironment } from "../helpers/environments.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith } from "../helpers/runtimes.ts";
import { waitFor } from "../helpers/waiting.ts";

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

const KINDS = [
  { isolation: "shared", title: "in the agent's sandbox" },
  { isolation: "strict", title: "in a sandbox of their own" },
] as const;

const SANDBOXES = [
  { name: "test-isolated", needs: [], sandbox: () => testIsolated() },
  { name: "bubblewrap", needs: ["bubblewrap"], sandbox: () => bubblewrap() },
] as const;

for (const { name, needs, sandbox } of SANDBOXES) {
  describeWith([...needs], `a run in ${name} with an environment`, () => {
    for (const { isolation, title } of KINDS) {
      it(`goes on until the tests ${title} pass, and tells the agent what still fails`, async () => {
        const { agent, prompts } = learning();
        const environment = { path: greetingEnvironment(), isolation };
        const { runId, iterations, warnings } = await greet(sandbox(), {
          ...{ agent, environment, until: "tests-pass", maxIterations: 5 },
        });
        expect(iterations.map(({ tests }) => tests)).toMatchObject([
          { path: "", passed: 1, failed: 1, total: 2, error: null },
          { path: "", passed: 2, failed: 0, total: 2, error: null },
        ]);
        expect(commandLines().filter((line) => line.includes(runId))).toEqual([]);
        expect(prompts[0]).toBe("Greet the world.");
        expect(prompts[1]).toMatch(
          /^Greet the world\.\n\n.*1 of 2 tests passed.*greeting\/text.*it does not greet/s,
        );
        const inReach = name === "test-isolated" && isolation === "shared";
        expect(warnings).toEqual(inReach ? [expect.stringContaining('isolation: "strict"')] : []);
      });

      it(`leaves what setup.sh has started for the tests ${title} at work, and ends it with the run`, async () => {
        const secret = randomUUID();
        const path = environmentFolder({
          "setup.sh": `sh -c 'while :; do date +%s%N >"$SANDDUNE_SCRATCH/beat"; sleep 0.1; done' ${secret} >/dev/null 2>&1 &`,
          "environment.mjs": `import { defineEnvironment } from "sanddune/environment";
            const read = 'cat "$SANDDUNE_SCRATCH/beat"';
            export default defineEnvironment({ tests: { "a/beats": async ({ run }) => {
              const { exitCode } = await run("first=$(" + read + "); sleep 0.7; test $first != $(" + read + ")");
              if (exitCode !== 0) throw new Error("it does not beat any more");
            } } });`,
        });
        const { iterations } = await greet(sandbox(), { environment: { path, isolation } });
        expect(iterations[0]?.tests).toMatchObject({ passed: 1, total: 1, error: null });
        await waitFor(() => !commandLines().some((line) => line.includes(secret)));
      });
    }
  });
}

describe("a run with an environment", () => {
  it("stops after the last iteration with a warning, if the tests do not pass; what the agent says does not count", async () => {
    const agent = scripted([write("goodbye"), { text: "<promise>COMPLETE</promise>" }]);
    const { iterations, warnings, completionSignal, commits } = await greet(testIsolated(), {
      ...{ agent, environment: greetingEnvironment(), until: "tests-pass", maxIterations: 2 },
    });
    expect(iterations).toHaveLength(2);
    expect(completionSignal).toBe("<promise>COMPLETE</promise>");
    expect(warnings).toEqual([expect.stringMatching(/did not all pass .*: 1 of 2 tests pass\./)]);
    expect(commits.length).toBeGreaterThan(0);
  });

  it("goes on if the environment cannot be set up again for the tests after an iteration, and says why", async () => {
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

  it("tells results without `until`, too, and lets the agent decide when it is done", async () => {
    const { agent } = learning();
    const { iterations } = await greet(testIsolated(), {
      ...{ agent, environment: greetingEnvironment(), maxIterations: 2, completionSignal: "never" },
    });
    expect(iterations.map(({ tests }) => tests?.passed)).toEqual([1, 2]);
  });

  it("gives the agent an address and a token for its tests, which are not told", async () => {
    const ask = `node -e '
      const { SANDDUNE_TESTS_URL: url, SANDDUNE_TESTS_TOKEN: token } = process.env;
      const headers = { authorization: "Bearer " + token };
      const { passed, failed } = await (await fetch(url + "/run", { method: "POST", headers })).json();
      const { status } = await fetch(url + "/run", { method: "POST" });
      console.log(JSON.stringify({ passed, failed, status, token }));
    ' --input-type=module`;
    const printed: string[] = [];
    await greet(testIsolated(), {
      agent: scripted([write("goodbye"), { shell: ask }]),
      environment: greetingEnvironment(),
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
  });

  it("runs setup.sh once, with what it makes there for the tests", async () => {
    const environment = environmentFolder({
      "setup.sh": 'echo setting up; date +%N >>"$SANDDUNE_SCRATCH/made"\n',
      "environment.mjs": `import { readFileSync } from "node:fs";
import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ tests: { made: ({ scratch }) => {
  const lines = readFileSync(scratch + "/made", "utf8").trim().split("\\n");
  if (lines.length !== 1) throw new Error("set up " + lines.length + " times");
} } });
`,
    });
    for (const isolation of ["shared", "strict"] as const) {
      const { iterations } = await greet(testIsolated(), {
        ...{ environment: { path: environment, isolation }, maxIterations: 2, completionSignal: "never" },
      });
      expect(iterations.map(({ tests }) => tests)).toMatchObject([
        { passed: 1, total: 1 },
        { passed: 1, total: 1 },
      ]);
    }
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

  it.each([
    [{ until: "tests-pass" }, /until.*pass `environment`/s],
    [{ environment: { path: "x", isolation: "none" } }, /"shared" or "strict"/],
    [{ environment: {} }, /needs the `path`/],
    [{ environment: "x", until: "done" }, /"tests-pass"/],
  ])("refuses options that make no sense: %j", async (options, problem) => {
    const refused = greet(testIsolated(), options as Partial<RunOptions>);
    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(problem);
  });

  it("kills its tests when it is aborted, and leaves nothing running", async () => {
    const cwd = temporaryRepository();
    const marker = `sanddune-endless-${randomUUID()}`;
    const path = environmentFolder({
      "environment.mjs": `import { defineEnvironment } from "sanddune/environment";
export default defineEnvironment({ timeoutMs: 600_000, tests: { endless: ({ run }) => run("sleep 600; : ${marker}") } });
`,
    });
    const controller = new AbortController();
    const running = greet(testIsolated(), { cwd, environment: path, signal: controller.signal });
    const reason = new Error("enough");
    await waitFor(() => commandLines().some((line) => line.includes(marker)));
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(commandLines().filter((line) => line.includes(marker))).toEqual([]);
  });

  it("takes a lasting sandbox's environment, which is set up once for all its runs", async () => {
    await using sandbox = await createSandbox({
      branch: "agent/lasting",
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
      environment: greetingEnvironment(),
    });
    const first = await sandbox.run({ agent: scripted([write("goodbye")]), prompt: "Greet." });
    const { agent } = learning();
    const second = await sandbox.run({ agent, prompt: "Greet.", until: "tests-pass", maxIterations: 3 });
    expect(first.iterations).toMatchObject([{ tests: { passed: 1 } }]);
    expect(second.iterations).toMatchObject([{ tests: { passed: 1 } }, { tests: { passed: 2 } }]);
  });

  it("refuses `until` in a lasting sandbox that has no environment", async () => {
    await using sandbox = await createSandbox({
      branch: "agent/lasting",
      sandbox: testIsolated(),
      cwd: temporaryRepository(),
    });
    const refused = sandbox.run({ agent: scripted([]), prompt: "x", until: "tests-pass" });
    await expect(refused).rejects.toThrow(/environment.*createSandbox/);
  });
});
