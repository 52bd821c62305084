import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type AgentStreamEvent,
  type CreateSandboxOptions,
  command,
  createSandbox,
  Output,
  run,
  type Sandbox,
  type ScriptedStep,
  scripted,
} from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { subjectsOf } from "../cli/fixtures.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { callClient } from "../sandboxes/containers.ts";

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["docker", ["docker"], () => docker({ image: TEST_IMAGE })],
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
  ["test-isolated", [], () => testIsolated()],
];
const BRANCH = "agent/work";

/** A sandbox on `agent/work`, closed after the test. */
const open = async (cwd: string, options: Partial<CreateSandboxOptions> = {}): Promise<Sandbox> => {
  const sandbox = await createSandbox({ branch: BRANCH, sandbox: testIsolated(), cwd, ...options });
  onTestFinished(async () => void (await sandbox.close()));
  return sandbox;
};

const play = (sandbox: Sandbox, ...steps: ScriptedStep[]) =>
  sandbox.run({ agent: scripted(steps), prompt: "Work" });

const shas = ({ commits }: { readonly commits: readonly { readonly sha: string }[] }) =>
  commits.map(({ sha }) => sha);
const COMMIT = "git commit -q --allow-empty -m";
const failureOf = (running: Promise<unknown>) =>
  running.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error) => error,
  );

const commitFile = (cwd: string, path: string, content: string): void => {
  writeFileSync(join(cwd, path), content);
  git(cwd, "add", path);
  git(cwd, "commit", "--quiet", "-m", `Add ${path}`);
};

const repositoryThatIgnores = (pattern: string): string => {
  const cwd = temporaryRepository();
  commitFile(cwd, ".gitignore", `${pattern}\n`);
  return cwd;
};

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `createSandbox() with the ${name} sandbox`, () => {
    it("keeps what a run has installed for the next one: ignored files, files in HOME and in /tmp", async () => {
      const cwd = repositoryThatIgnores("node_modules");
      const temporary = `/tmp/${basename(cwd)}.installed`;
      onTestFinished(() => rmSync(temporary, { force: true }));
      const warm = await open(cwd, { sandbox: sandbox() });
      const installed = await warm.run({
        agent: command(
          `mkdir node_modules && echo dependency > node_modules/a; echo cache > ~/cache; echo built > ${temporary}`,
        ),
        prompt: "Install",
      });
      const used = await warm.run({
        agent: command(`cat node_modules/a ~/cache ${temporary}`),
        prompt: "Build",
      });
      const { stdout } = await warm.exec(`cat node_modules/a ~/cache ${temporary}`);

      expect(installed.commits).toEqual([]);
      expect(used.stdout).toBe("dependency\ncache\nbuilt\n");
      expect(stdout).toBe("dependency\ncache\nbuilt\n");
      expect(await warm.close()).toEqual({ commits: [], warnings: [] });
      expect(leftovers(cwd)).toEqual([]);
    });

    it("gives each run exactly its own commits, which are on the branch when it is over", async () => {
      const cwd = temporaryRepository();
      const main = git(cwd, "rev-parse", "main");
      const warm = await open(cwd, { sandbox: sandbox() });
      expect(warm.branch).toBe(BRANCH);
      const implemented = await play(warm, { commit: "One" }, { commit: "Two", files: { "a.txt": "a\n" } });
      expect(shas(implemented)).toEqual(git(cwd, "rev-list", "--reverse", `main..${BRANCH}`).split("\n"));
      const first = git(cwd, "rev-parse", BRANCH);
      const reviewed = await warm.run({
        agent: command("git log --format=%s -1; cat a.txt; git commit -q --allow-empty -m Review"),
        prompt: "Review",
      });
      const looked = await warm.run({ agent: command("git log --format=%s"), prompt: "Look" });

      expect(reviewed.stdout).toBe("Two\na\n");
      expect(shas(reviewed)).toEqual(git(cwd, "rev-list", `${first}..${BRANCH}`).split("\n"));
      expect(looked).toMatchObject({ commits: [], branch: BRANCH, warnings: [] });
      expect(looked.stdout).toBe("Review\nTwo\nOne\nInitial commit\n");
      expect(subjectsOf(cwd, BRANCH)).toEqual(["Review", "Two", "One", "Initial commit"]);
      expect(git(cwd, "rev-parse", "main")).toBe(main);
      expect(git(warm.worktreePath, "status", "--porcelain")).toBe("");
      await warm.close();
      expect(subjectsOf(cwd, BRANCH)).toEqual(["Review", "Two", "One", "Initial commit"]);
      expect(leftovers(cwd)).toEqual([]);
    });

    it("carries uncommitted work from one run to the next, and keeps it in the worktree on the host", async () => {
      const cwd = temporaryRepository();
      const warm = await open(cwd, { sandbox: sandbox() });
      await play(warm, { shell: "echo half > half.txt" });
      for (let call = 0; call < 5; call++) {
        expect(readFileSync(join(warm.worktreePath, "half.txt"), "utf8")).toBe("half\n");
        await warm.exec("true");
      }
      const finished = await play(warm, { commit: "The whole" });
      expect(finished.commits).toHaveLength(1);
      expect(git(cwd, "show", `${BRANCH}:half.txt`)).toBe("half");
    });

    it("starts commands and agents in the subdirectory that it was made in", async () => {
      const cwd = temporaryRepository();
      const sub = join(cwd, "packages/a");
      mkdirSync(sub, { recursive: true });
      commitFile(cwd, "packages/a/only-here.txt", "here\n");
      const warm = await open(sub, { sandbox: sandbox() });
      const { stdout } = await warm.exec("basename $PWD; cat only-here.txt; git rev-parse --show-prefix");
      const result = await warm.run({ agent: command("cat only-here.txt"), prompt: "Look" });
      expect(stdout).toBe("a\nhere\npackages/a/\n");
      expect(result.stdout).toBe("here\n");
    });

    it("copies untracked files, and lets the hooks run once, however many runs there are", async () => {
      const cwd = repositoryThatIgnores(".secrets");
      writeFileSync(join(cwd, ".secrets"), "copied\n");
      const calls = join(temporaryDirectory(), "calls");
      const warm = await open(cwd, {
        sandbox: sandbox(),
        copyToWorktree: [".secrets"],
        hooks: {
          host: {
            onWorktreeReady: [{ command: `cat .secrets >> ${calls}` }],
            onSandboxReady: [{ command: `echo host >> ${calls}` }],
          },
          sandbox: { onSandboxReady: [{ command: "echo sandbox >> ~/calls" }] },
        },
      });
      await play(warm, { text: "One" });
      await play(warm, { text: "Two" });
      expect((await warm.exec("cat ~/calls .secrets")).stdout).toBe("sandbox\ncopied\n");
      expect(readFileSync(calls, "utf8")).toBe("copied\nhost\n");
    });
  });
}

describeWith(["docker"], "the container of a sandbox that lasts", () => {
  it("is one and the same for all calls, and gone after close()", async () => {
    const cwd = temporaryRepository();
    const containers = () =>
      callClient(
        "docker",
        ...["ps", "--all", "--quiet", "--no-trunc", "--filter", `label=sanddune.repository=${cwd}`],
      );
    const warm = await open(cwd, { sandbox: docker({ image: TEST_IMAGE }) });
    const before = containers();
    const hostname = command("hostname");
    const [one, two] = [
      await warm.run({ agent: hostname, prompt: "x" }),
      await warm.run({ agent: hostname, prompt: "x" }),
    ];
    const { stdout } = await warm.exec("hostname");

    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(containers()).toBe(before);
    expect([one.stdout, two.stdout, stdout]).toEqual(Array(3).fill(`${before.slice(0, 12)}\n`));
    await warm.close();
    expect(containers()).toBe("");
  });
});

describe("the options of sandbox.run()", () => {
  it("hold for the one run: iterations, completion signal, output, stream events", async () => {
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
  });

  it("give each run an id and a log of its own, beside the log of the sandbox", async () => {
    const warm = await open(temporaryRepository());
    const one = await play(warm, { text: "first words" });
    const two = await play(warm, { text: "second words" });
    expect(one.runId).not.toBe(two.runId);
    const logs = [one, two, warm].map(({ logFilePath }) => readFileSync(logFilePath as string, "utf8"));
    const holders = (words: string) => logs.map((log) => log.includes(words));
    expect(holders("first words")).toEqual([true, false, false]);
    expect(holders("second words")).toEqual([false, true, false]);
  });
});

describe("the branch of a sandbox", () => {
  it("can start anywhere, and is gone on with if it exists", async () => {
    const cwd = temporaryRepository();
    git(cwd, "tag", "v1");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "After the tag");
    const fromTag = await open(cwd, { from: "v1" });
    await fromTag.exec(`${COMMIT} one`);
    await fromTag.close();
    const again = await open(cwd);
    await again.exec(`${COMMIT} two`);
    expect(subjectsOf(cwd, BRANCH)).toEqual(["two", "one", "Initial commit"]);
    expect(await failureOf(open(cwd, { branch: "other", from: "nowhere" }))).toMatchObject({
      name: "NoSuchBranchError",
      branch: "nowhere",
    });
  });

  it("is the sandbox's alone: others fail at once and are told who has it; after close() it is free", async () => {
    const cwd = temporaryRepository();
    const warm = await open(cwd);
    const elsewhere = { type: "branch", branch: BRANCH } as const;
    const others = [
      open(cwd),
      run({ agent: command("true"), sandbox: testIsolated(), cwd, prompt: "x", branchStrategy: elsewhere }),
    ];
    for (const error of await Promise.all(others.map(failureOf))) {
      const owner = expect.stringMatching(new RegExp(`process ${process.pid}\\b`));
      expect(error).toMatchObject({ name: "BranchInUseError", branch: BRANCH, owner });
    }
    expect((await warm.exec(`${COMMIT} unharmed`)).commits).toHaveLength(1);
    await warm.close();
    const next = await open(cwd);
    expect((await next.exec("git log -1 --format=%s")).stdout).toBe("unharmed\n");
  });

  it("may not be checked out elsewhere", async () => {
    const cwd = temporaryRepository();
    const elsewhere = join(temporaryDirectory(), "elsewhere");
    git(cwd, "worktree", "add", "--quiet", "-b", BRANCH, elsewhere);
    for (const [branch, path] of Object.entries({ main: cwd, [BRANCH]: elsewhere })) {
      const error = await failureOf(open(cwd, { branch }));
      expect(error).toMatchObject({ name: "BranchInUseError", owner: expect.stringContaining(path) });
    }
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
  });
});
