import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { command, type RunOptions, type RunResult, run } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../src/sandboxes/contract.ts";
import { docker } from "../../src/sandboxes/docker.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../helpers/leftovers.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../helpers/runtimes.ts";
import { failureOf, STRATEGIES, type StrategyName } from "../security/support.ts";

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
  ["docker", ["docker"], () => docker({ image: TEST_IMAGE })],
  ["test-isolated", [], () => testIsolated()],
];

const SHOW_PROMPT = command("cat");
/** Shows the prompt, then commits. */
const WORK = command("cat; echo work >> work.txt; git add work.txt; git commit --quiet -m Work");

const templateFile = (content: string): string => {
  const path = join(temporaryDirectory(), "prompt.md");
  writeFileSync(path, content);
  return path;
};

/** A path that belongs to one sandbox alone, and not to the files that the agent works on. */
const inGitDirectory = (name: string) => `"$(git rev-parse --absolute-git-dir)/${name}"`;

/** Commands with this word on their command line, in whatever sandbox they run. */
const running = (word: string): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(word));

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `prompts in the ${name} sandbox`, () => {
    const start = (cwd: string, options: object): Promise<RunResult> =>
      run({
        agent: SHOW_PROMPT,
        sandbox: sandbox(),
        cwd,
        branchStrategy: STRATEGIES["merge-to-head"],
        ...options,
      } as RunOptions);
    const prompted = async (content: string, options: object = {}): Promise<string> => {
      const { stdout } = await start(temporaryRepository(), {
        promptFile: templateFile(content),
        ...options,
      });
      return stdout;
    };

    /** The agent is not started, the error tells all, and nothing is left. */
    const expectToEndTheRun = async (template: string, options: object, told: object, problem: RegExp) => {
      const cwd = temporaryRepository();
      const promptFile = templateFile(template);
      const error = await failureOf(
        start(cwd, { agent: WORK, promptFile, branchStrategy: STRATEGIES.branch, ...options }),
      );
      expect(leftovers(cwd)).toEqual([]);
      expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
      expect(error.message).toMatch(problem);
      expect(error).toMatchObject({ name: "PromptExpansionError", promptFile, commits: [], iterations: [] });
      expect(error).toMatchObject({ ...told, stderr: "its last words\n" });
    };

    it("an inline prompt reaches the agent as it is", async () => {
      const prompt = "{{KEY}} {{SOURCE_BRANCH}} !`exit 1` \\{{A}} \\!`b`\n";
      expect((await start(temporaryRepository(), { prompt })).stdout).toBe(prompt);
    });

    it("a prompt file is looked for from the caller's directory, and gets its arguments", async () => {
      const promptFile = relative(process.cwd(), templateFile("Fix {{N}}: !`printf '<%s>' {{TITLE}}`\n"));
      const promptArgs = { N: 7, TITLE: "it's *broken*; $(date)" };
      const { stdout, warnings } = await start(temporaryRepository(), { promptFile, promptArgs });
      expect(stdout).toBe("Fix 7: <it's *broken*; $(date)>\n");
      expect(warnings).toEqual([]);
    });

    it("an argument that the template does not use is a warning", async () => {
      const promptFile = templateFile("{{A}}");
      const promptArgs = { A: 1, SPARE: 2, OTHER: 3 };
      const { stdout, warnings } = await start(temporaryRepository(), { promptFile, promptArgs });
      expect(stdout).toBe("1\n");
      expect(warnings).toEqual([expect.stringMatching(/SPARE, OTHER/)]);
      expect(warnings[0]).toContain(promptFile);
    });

    describe("nothing is created", () => {
      const template = (promptArgs: object) => () => ({
        promptFile: templateFile("{{A}} !`echo {{B_B}}`"),
        promptArgs,
      });
      const set = { A: 1, B_B: 1 };
      it.each<[string, () => object, RegExp]>([
        ["with two prompts", () => ({ prompt: "x", ...template(set)() }), /exclude each other/],
        ["without a prompt", () => ({}), /pass `prompt`/],
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

    const strategies = (Object.keys(STRATEGIES) as StrategyName[]).filter(
      (strategy) => strategy !== "head" || name !== "test-isolated",
    );
    it.each(
      strategies.flatMap((strategy) => [
        [strategy, "a branch"] as const,
        [strategy, "a detached HEAD"] as const,
      ]),
    )("the built-in arguments are names that git knows, with %s on %s", async (strategy, where) => {
      const cwd = temporaryRepository();
      git(cwd, "branch", "agent/work");
      git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Only on main");
      const [head, earlier] = [git(cwd, "rev-parse", "HEAD"), git(cwd, "rev-parse", "agent/work")];
      if (where === "a detached HEAD") git(cwd, "checkout", "--quiet", "--detach");
      const sha = (key: string) => `!\`git rev-parse --verify {{${key}}}\``;
      const { stdout, runId } = await start(cwd, {
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

    it("expressions run in the sandbox, where the agent finds what they leave, and not on the host", async () => {
      const mark = "left-by-a-shell-expression";
      const stdout = await prompted(`!\`touch "$HOME/${mark}"; echo made\``, {
        agent: command('cat; echo; ls "$HOME"'),
      });
      expect(stdout).toMatch(/^made\n/);
      expect(stdout).toContain(mark);
      expect(readdirSync(homedir())).not.toContain(mark);
    });

    it("expressions run at the same time", async () => {
      const meet = (mine: string, other: string) =>
        `!\`touch ${inGitDirectory(mine)}; until [ -e ${inGitDirectory(other)} ]; do sleep 0.02; done; echo ${mine}\``;
      expect(await prompted(`${meet("one", "two")} ${meet("two", "one")}`)).toBe("one two\n");
    });

    it("expressions are evaluated before each iteration, and see what the agent has committed", async () => {
      const stdout = await prompted("!`git rev-list --count HEAD` !`git status --porcelain`.", {
        agent: WORK,
        maxIterations: 3,
      });
      expect(stdout).toBe("1 .\n2 .\n3 .\n");
    });

    it("expressions run after the hooks on the sandbox", async () => {
      const hook = { command: `sleep 0.2; echo prepared > ${inGitDirectory("hook")}` };
      const hooks = { sandbox: { onSandboxReady: [hook] } };
      expect(await prompted(`!\`cat ${inGitDirectory("hook")}\``, { hooks })).toBe("prepared\n");
    });

    it("expressions run in the directory that the agent starts in, with the env vars of the run", async () => {
      const cwd = temporaryRepository();
      mkdirSync(join(cwd, "packages/app"), { recursive: true });
      writeFileSync(join(cwd, "packages/app/name.txt"), "app\n");
      git(cwd, "add", ".");
      git(cwd, "commit", "--quiet", "-m", "Add a package");
      const { stdout } = await start(join(cwd, "packages/app"), {
        promptFile: templateFile('!`git rev-parse --show-prefix` !`cat name.txt` !`printf %s "$GREETING"`'),
        env: { GREETING: { public: "hello" } },
      });
      expect(stdout).toBe("packages/app/ app hello\n");
    });

    it("an expression has an empty standard input", async () => {
      expect(await prompted("[!`cat`]")).toBe("[]\n");
    });

    const WAITS = `until [ -e ${inGitDirectory("beside")} ]; do sleep 0.02; done`;
    it.each<[string, string, RegExp, object]>([
      ["fails", `${WAITS}; echo its last words >&2; echo out; exit 3`, /exit code 3/, { exitCode: 3 }],
      ["prints too much", `${WAITS}; echo its last words >&2; yes`, /more than 1048576 bytes/, {}],
      [
        "prints too long a line",
        `${WAITS}; echo its last words >&2; head -c 2000000 /dev/zero | tr '\\0' x`,
        /more than 1048576 bytes/,
        {},
      ],
      ["prints binary data", `${WAITS}; echo its last words >&2; printf 'a\\000b'`, /binary data/, {}],
    ])(
      "an expression that %s ends the run and the other expressions",
      async (_, expression, problem, more) => {
        const beside = `1000.${process.hrtime.bigint()}`;
        const template = `!\`touch ${inGitDirectory("beside")}; sleep ${beside}\` !\`${expression}\``;
        await expectToEndTheRun(template, {}, { expression, ...more }, problem);
        expect(running(beside)).toEqual([]);
      },
    );

    it("an expression that takes too long is killed and ends the run", async () => {
      const expression = `echo its last words >&2; sleep 1000.${process.hrtime.bigint()}`;
      const timeouts = { promptExpansionMs: 2500 };
      await expectToEndTheRun(
        `!\`${expression}\``,
        { timeouts },
        { expression },
        /longer than 2500 ms.*timeouts\.promptExpansionMs/,
      );
      expect(running(expression.slice(-20))).toEqual([]);
    });

    it("an expression that fails later keeps the commits of the iterations before", async () => {
      const cwd = temporaryRepository();
      const error = await failureOf(
        start(cwd, {
          agent: WORK,
          promptFile: templateFile("!`test ! -e work.txt`"),
          branchStrategy: STRATEGIES.branch,
          maxIterations: 3,
        }),
      );
      expect(error).toMatchObject({ name: "PromptExpansionError", branch: "agent/work" });
      expect(error.iterations).toHaveLength(1);
      expect(error.commits).toEqual([{ sha: git(cwd, "rev-parse", "agent/work") }]);
      expect(git(cwd, "show", "agent/work:work.txt")).toBe("work");
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}
