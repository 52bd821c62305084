import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type AgentStreamEvent,
  type CreateSandboxOptions,
  command,
  createSandbox,
  type EnvVars,
  Output,
  run,
  type Sandbox,
  scripted,
} from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";

const SANDBOXES: [string, Runtime[], (env: EnvVars) => SandboxProvider][] = [
  ["docker", ["docker"], (env) => docker({ imageName: TEST_IMAGE, env })],
  ["bubblewrap", ["bubblewrap"], (env) => bubblewrap({ env })],
  ["test-isolated", [], (env) => testIsolated({ env })],
];
const BRANCH = "agent/work";

/** A sandbox on `agent/work`, closed after the test. */
const open = async (cwd: string, options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox({ branch: BRANCH, sandbox: testIsolated(), cwd, ...options });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const COMMIT = "git commit -q --allow-empty -m";
const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

/** A repository with a package in it, whose dependencies and secrets are ignored. */
const repositoryWithPackage = (): string => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  writeFileSync(join(cwd, ".gitignore"), "node_modules\n.secrets\n");
  writeFileSync(join(cwd, "packages/a/only-here.txt"), "here\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Add a package");
  writeFileSync(join(cwd, "packages/a/.secrets"), "copied\n");
  return cwd;
};

/** The containers of a repository. */
const containersOf = (cwd: string): string =>
  callClient(
    "docker",
    ...["ps", "--all", "--quiet", "--no-trunc", "--filter", `label=sanddune.repository=${cwd}`],
  );

for (const [name, runtimes, sandbox] of SANDBOXES) {
  const once =
    name === "docker" ? "; its container is one and the same for all calls, and gone after close()" : "";
  describeWith(runtimes, `a ${name} long-lived sandbox`, () => {
    it(`keeps what a run has installed, and its uncommitted work, for the next one; gives each run exactly its own commits and env vars; lets the hooks run once${once}`, async () => {
      const cwd = repositoryWithPackage();
      const main = git(cwd, "rev-parse", "main");
      const temporary = `/tmp/${basename(cwd)}.installed`;
      onTestFinished(() => rmSync(temporary, { force: true }));
      const calls = join(temporaryDirectory(), "calls");
      const show = 'echo "[$PROVIDER] [$SANDBOX] [$AGENT]"';
      const warm = await open(join(cwd, "packages/a"), {
        sandbox: sandbox({ PROVIDER: "prov" }),
        env: { SANDBOX: "sand" },
        copyToWorktree: [".secrets"],
        hooks: {
          host: {
            onWorktreeReady: [{ command: `cat .secrets >> ${calls}` }],
            onSandboxReady: [{ command: `echo host >> ${calls}` }],
          },
          sandbox: { onSandboxReady: [{ command: `${show} >> ~/hook` }] },
        },
      });
      expect(warm.branch).toBe(BRANCH);
      const containers = name === "docker" ? containersOf(cwd) : undefined;
      const env = { AGENT: "agent" };
      const install = `${show}; mkdir node_modules && echo dependency > node_modules/a
        echo cache > ~/cache; echo built > ${temporary}; echo half > half.txt; ${COMMIT} One`;
      const installed = await warm.run({ agent: command(install, { env }), prompt: "Install" });
      const first = git(cwd, "rev-parse", BRANCH);
      expect(installed.stdout).toBe("[prov] [sand] [agent]\n");
      expect(installed.commits).toEqual([{ sha: first }]);
      expect(readFileSync(join(warm.worktreePath, "packages/a/half.txt"), "utf8")).toBe("half\n");

      const use = `${show}; cat only-here.txt node_modules/a ~/cache ${temporary} half.txt ~/hook .secrets
        git add half.txt; ${COMMIT} Two; ${COMMIT} Three`;
      const runEnv = { PROVIDER: "run", SANDBOX: "run", AGENT: "run" };
      const used = await warm.run({ agent: command(use, { env }), prompt: "Build", env: runEnv });
      expect(used.stdout).toBe(
        "[run] [run] [run]\nhere\ndependency\ncache\nbuilt\nhalf\n[prov] [sand] []\ncopied\n",
      );
      expect(used).toMatchObject({ branch: BRANCH, warnings: [] });
      expect(used.commits.map(({ sha }) => sha)).toEqual(
        git(cwd, "rev-list", "--reverse", `${first}..${BRANCH}`).split("\n"),
      );
      expect(git(cwd, "show", `${BRANCH}:packages/a/half.txt`)).toBe("half");

      const four = await warm.exec(
        `${show}; git rev-parse --show-prefix; echo err >&2; ${COMMIT} Four; exit 7`,
      );
      expect(four).toEqual({
        stdout: "[prov] [sand] []\npackages/a/\n",
        stderr: "err\n",
        exitCode: 7,
        commits: [{ sha: git(cwd, "rev-parse", BRANCH) }],
        protectedPaths: [],
        warnings: [],
      });
      if (containers !== undefined) {
        expect(containers).toMatch(/^[0-9a-f]{64}$/);
        expect(containersOf(cwd)).toBe(containers);
      }

      expect(await warm.close()).toEqual({ commits: expect.any(Array), warnings: [] });
      expect(readFileSync(calls, "utf8")).toBe("copied\nhost\n");
      expect(subjectsOf(cwd, BRANCH).slice(0, 4)).toEqual(["Four", "Three", "Two", "One"]);
      expect(git(cwd, "rev-parse", "main")).toBe(main);
      expect(leftovers(cwd)).toEqual([]);
      if (containers !== undefined) expect(containersOf(cwd)).toBe("");
    });
  });
}

it("the options of sandbox.run() hold for the one run, which has an id and a log of its own", async () => {
  const warm = await open(temporaryRepository());
  const events: AgentStreamEvent[] = [];
  const looped = await warm.run({
    agent: scripted(({ iteration }) => [{ text: iteration === 2 ? "ENOUGH" : "more" }]),
    prompt: "Loop",
    maxIterations: 5,
    completionSignal: "ENOUGH",
    logging: { type: "file", onAgentStreamEvent: (event) => void events.push(event) },
  });
  const judged = await warm.run({
    agent: scripted([{ text: '<verdict>{"score": 7}</verdict>' }]),
    prompt: "Judge",
    output: Output.object({ tag: "verdict", schema: z.object({ score: z.number() }) }),
  });

  expect(looped).toMatchObject({ completionSignal: "ENOUGH", stdout: "more\nENOUGH\n", output: undefined });
  expect(looped.iterations).toHaveLength(2);
  expect(events.map((event) => event.type === "text" && event.text)).toEqual(["more\n", "ENOUGH\n"]);
  expect(judged.output.score).toBe(7);
  expect(judged.iterations).toHaveLength(1);
  expect(judged.completionSignal).toBeUndefined();

  expect(looped.runId).not.toBe(judged.runId);
  const logs = [looped, judged, warm].map(({ logFilePath }) => readFileSync(logFilePath as string, "utf8"));
  const holders = (words: string) => logs.map((log) => log.includes(words));
  expect(holders("ENOUGH")).toEqual([true, false, false]);
  expect(holders("score")).toEqual([false, true, false]);
});

describe("the branch of a sandbox", () => {
  it("can start anywhere, and belongs to the sandbox alone: others get its owner's name; after close() it is free, and continued", async () => {
    const cwd = temporaryRepository();
    git(cwd, "tag", "v1");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "After the tag");
    const warm = await open(cwd, { from: "v1" });
    const others = [
      open(cwd),
      run({
        ...{ agent: command("true"), sandbox: testIsolated(), cwd, prompt: "x" },
        branchStrategy: { type: "branch", branch: BRANCH },
      }),
    ];
    for (const error of await Promise.all(others.map(failureOf))) {
      const owner = expect.stringMatching(new RegExp(`process ${process.pid}\\b`));
      expect(error).toMatchObject({ name: "BranchInUseError", branch: BRANCH, owner });
    }
    expect((await warm.exec(`${COMMIT} one`)).commits).toHaveLength(1);
    await warm.close();
    const again = await open(cwd);
    await again.exec(`${COMMIT} two`);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["two", "one", "Initial commit"]);
  });

  it("may not be checked out elsewhere, nor start nowhere", async () => {
    const cwd = temporaryRepository();
    const elsewhere = join(temporaryDirectory(), "elsewhere");
    git(cwd, "worktree", "add", "--quiet", "-b", BRANCH, elsewhere);
    for (const [branch, path] of Object.entries({ main: cwd, [BRANCH]: elsewhere })) {
      const error = await failureOf(open(cwd, { branch }));
      expect(error).toMatchObject({ name: "BranchInUseError", owner: expect.stringContaining(path) });
    }
    expect(await failureOf(open(cwd, { branch: "other", from: "nowhere" }))).toMatchObject({
      name: "NoSuchBranchError",
      branch: "nowhere",
    });
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});
