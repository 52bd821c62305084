import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { command, type RunOptions, type RunResult, run } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, STRATEGIES, type StrategyName } from "../../security/support.ts";

const SHOW_PROMPT = command("cat");
/** Shows the prompt, then commits. */
const WORK = command("cat; echo; echo work >> work.txt; git add work.txt; git commit --quiet -m Work");

const templateFile = (content: string): string => {
  const path = join(temporaryDirectory(), "prompt.md");
  writeFileSync(path, content);
  return path;
};

const start = (cwd: string, options: object): Promise<RunResult> =>
  run({
    agent: SHOW_PROMPT,
    sandbox: testIsolated(),
    cwd,
    branchStrategy: STRATEGIES["merge-to-head"],
    ...options,
  } as RunOptions);

/** A path that belongs to one sandbox alone, and not to the files that the agent works on. */
const inGitDirectory = (name: string) => `"$(git rev-parse --absolute-git-dir)/${name}"`;

/** Commands with this word on their command line, in whatever sandbox they run. */
const running = (word: string): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(word));

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
  ["docker", ["docker"], () => docker({ imageName: TEST_IMAGE })],
  ["test-isolated", [], () => testIsolated()],
];

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `shell expressions of a prompt with the ${name} sandbox`, () => {
    it("run in the sandbox, after its hooks and before each iteration, where the agent starts, with the env vars of the run", async () => {
      const cwd = temporaryRepository();
      mkdirSync(join(cwd, "packages/app"), { recursive: true });
      writeFileSync(join(cwd, "packages/app/name.txt"), "app\n");
      git(cwd, "add", ".");
      git(cwd, "commit", "--quiet", "-m", "Add a package");
      const mark = "left-by-a-shell-expression";
      const hook = { command: `sleep 0.2; echo prepared > ${inGitDirectory("hook")}` };
      const expressions = [
        `cat ${inGitDirectory("hook")}`,
        "git rev-list --count HEAD",
        "git status --porcelain",
        "git rev-parse --show-prefix",
        "cat name.txt",
        'printf %s "$GREETING"',
        `touch "$HOME/${mark}"; echo made`,
      ];
      const { stdout } = await start(join(cwd, "packages/app"), {
        sandbox: sandbox(),
        agent: command(
          'cat; echo; ls "$HOME"; echo work >> work.txt; git add work.txt; git commit --quiet -m Work',
        ),
        promptFile: templateFile(`${expressions.map((expression) => `[!\`${expression}\`]`).join("")}`),
        env: { GREETING: { public: "hello" } },
        hooks: { sandbox: { onSandboxReady: [hook] } },
        maxIterations: 2,
      });
      const prompts = stdout.split("\n").filter((line) => line.startsWith("["));
      expect(prompts).toEqual([
        "[prepared][2][][packages/app/][app][hello][made]",
        "[prepared][3][][packages/app/][app][hello][made]",
      ]);
      expect(stdout).toContain(mark);
      expect(readdirSync(homedir())).not.toContain(mark);
    });
  });
}

it("a prompt file is looked for from the caller's directory and gets its arguments; one that it does not use is a warning", async () => {
  const promptFile = templateFile("Fix {{N}}: !`printf '<%s>' {{TITLE}}`\n");
  const promptArgs = { N: 7, TITLE: "it's *broken*; $(date)", SPARE: 2, OTHER: 3 };
  const { stdout, warnings } = await start(temporaryRepository(), {
    promptFile: relative(process.cwd(), promptFile),
    promptArgs,
  });
  expect(stdout).toBe("Fix 7: <it's *broken*; $(date)>\n");
  expect(warnings).toEqual([expect.stringMatching(/SPARE, OTHER/)]);
  expect(warnings[0]).toContain("prompt.md");
});

describe("nothing is created", () => {
  const template = (promptArgs: object) => () => ({
    promptFile: templateFile("{{A}} !`echo {{B_B}}`"),
    promptArgs,
  });
  const set = { A: 1, B_B: 1 };
  it.each<[string, () => object, RegExp]>([
    ["with two prompts", () => ({ prompt: "x", ...template(set)() }), /exclude each other/],
    ["without a prompt", () => ({}), /pass the text as `prompt`/],
    ["with arguments for a text", () => ({ prompt: "x", promptArgs: {} }), /promptArgs.*inline/],
    ["without an argument that is needed", template({ A: 1 }), /prompt\.md has \{\{B_B\}\}/],
    ["with another SOURCE_BRANCH", template({ ...set, SOURCE_BRANCH: "x" }), /SOURCE_BRANCH.*be set/],
    ["with another TARGET_BRANCH", template({ ...set, TARGET_BRANCH: "x" }), /TARGET_BRANCH.*be set/],
  ])("%s, and a clear error says so", async (_, options, message) => {
    const cwd = temporaryRepository();
    const error = await failureOf(start(cwd, options()));
    expect(error.message).toMatch(message);
    expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
    expect(existsSync(join(cwd, ".git/sanddune"))).toBe(false);
    expect(git(cwd, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  });
});

describeWith(["bubblewrap"], "the built-in arguments", () => {
  it.each(
    (Object.keys(STRATEGIES) as StrategyName[]).flatMap((strategy) => [
      [strategy, "a branch"] as const,
      [strategy, "a detached HEAD"] as const,
    ]),
  )("are names that git knows, with %s on %s", async (strategy, where) => {
    const cwd = temporaryRepository();
    git(cwd, "branch", "agent/work");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Only on main");
    const [head, earlier] = [git(cwd, "rev-parse", "HEAD"), git(cwd, "rev-parse", "agent/work")];
    if (where === "a detached HEAD") git(cwd, "checkout", "--quiet", "--detach");
    const sha = (key: string) => `!\`git rev-parse --verify {{${key}}}\``;
    const { stdout, runId } = await start(cwd, {
      sandbox: bubblewrap(),
      promptFile: templateFile(
        `{{SOURCE_BRANCH}} ${sha("SOURCE_BRANCH")}\n{{TARGET_BRANCH}} ${sha("TARGET_BRANCH")}\n`,
      ),
      branchStrategy: STRATEGIES[strategy],
    });
    const target = where === "a branch" ? "main" : head;
    const source = {
      head: `${where === "a branch" ? "main" : "HEAD"} ${head}`,
      "merge-to-head": `sanddune/${runId} ${head}`,
      branch: `agent/work ${earlier}`,
    }[strategy];
    expect(stdout).toBe(`${source}\n${target} ${head}\n`);
  });
});

describe("an expression", () => {
  it("that fails ends the run and the other expressions: the agent is not started, the error tells all, and nothing is left", async () => {
    const cwd = temporaryRepository();
    const beside = `1000.${process.hrtime.bigint()}`;
    const wait = `until [ -e ${inGitDirectory("beside")} ]; do sleep 0.02; done`;
    const expression = `${wait}; echo its last words >&2; echo out; exit 3`;
    const promptFile = templateFile(
      `!\`touch ${inGitDirectory("beside")}; sleep ${beside}\` !\`${expression}\``,
    );
    const error = await failureOf(start(cwd, { agent: WORK, promptFile, branchStrategy: STRATEGIES.branch }));
    expect(running(beside)).toEqual([]);
    expect(leftovers(cwd)).toEqual([]);
    expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
    expect(error.message).toMatch(/exit code 3/);
    expect(error).toMatchObject({ name: "PromptExpansionError", promptFile, commits: [], iterations: [] });
    expect(error).toMatchObject({ expression, exitCode: 3, stderr: "its last words\n" });
  });

  it("that takes too long later, by timeouts.promptExpansionMs, keeps the commits of the iterations before", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      start(cwd, {
        agent: WORK,
        promptFile: templateFile("Work. !`test ! -e work.txt || sleep 1000`"),
        branchStrategy: STRATEGIES.branch,
        maxIterations: 3,
        timeouts: { promptExpansionMs: 3000 },
      }),
    );
    expect(error).toMatchObject({ name: "PromptExpansionError", branch: "agent/work" });
    expect(error.message).toContain("took longer than 3000 ms");
    expect(error.iterations).toHaveLength(1);
    expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", "agent/work") }]);
    expect(git(cwd, "show", "agent/work:work.txt")).toBe("work");
    expect(leftovers(cwd)).toEqual([]);
  });
});
