import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { command, type RunOptions, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { podman } from "../../../src/sandboxes/podman.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { leftovers } from "../../helpers/processes/leftovers.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, type Runtime, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";

const SANDBOXES: [string, Runtime[], () => SandboxProvider][] = [
  ["docker", ["docker"], () => docker({ imageName: TEST_IMAGE })],
  ["podman", ["podman"], () => podman({ imageName: TEST_IMAGE })],
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
  ["test-isolated", [], () => testIsolated()],
];

const agent = scripted([
  { text: "On it." },
  { shell: "cat README.md" },
  { commit: "Add a greeting", files: { "src/hello.txt": "hello\n" } },
  { commit: "Improve it", files: { "src/hello.txt": "hello, world\n" } },
  { text: "<promise>COMPLETE</promise>" },
]);

const runIn = (cwd: string, sandbox: SandboxProvider, overrides: Partial<RunOptions> = {}) =>
  run({ agent, sandbox, cwd, prompt: "Add a greeting", ...overrides } as RunOptions);

for (const [name, runtimes, sandbox] of SANDBOXES) {
  describeWith(runtimes, `run() in the ${name} sandbox`, () => {
    it("puts the agent's commits on a named branch, tells what happened, and leaves nothing else behind", async () => {
      const cwd = temporaryRepository();
      const before = git(cwd, "rev-parse", "main");
      const result = await runIn(cwd, sandbox(), {
        branchStrategy: { type: "branch", branch: "agent/fix-42" },
        maxIterations: 5,
      });

      expect(result.branch).toBe("agent/fix-42");
      expect(result.commits.map(({ sha }) => sha)).toEqual(
        git(cwd, "rev-list", "--reverse", "main..agent/fix-42").split("\n"),
      );
      expect(git(cwd, "log", "--reverse", "--format=%s %an <%ae>", "main..agent/fix-42")).toBe(
        "Add a greeting Dev <dev@example.com>\nImprove it Dev <dev@example.com>",
      );
      expect(git(cwd, "show", "agent/fix-42:src/hello.txt")).toBe("hello, world");
      expect(git(cwd, "rev-parse", "main")).toBe(before);
      expect(leftovers(cwd)).toEqual([]);

      expect(result.iterations).toHaveLength(1);
      expect(result.completionSignal).toBe("<promise>COMPLETE</promise>");
      expect(result.stdout).toBe("On it.\n<promise>COMPLETE</promise>\n");
      expect(result.warnings).toEqual([]);
      expect(result.preservedWorktreePath).toBeUndefined();
      const log = readFileSync(result.logFilePath as string, "utf8");
      expect(log).toContain("On it.");
      expect(log).toContain("# Fixture");
    });
  });
}

for (const [name, runtimes, sandbox] of SANDBOXES.filter(([, , make]) => make().type === "bind-mount")) {
  describeWith(runtimes, `run() with the head strategy in the ${name} sandbox`, () => {
    it("is the default, and commits to the branch that is checked out, with the user's uncommitted changes seen and kept", async () => {
      const cwd = temporaryRepository();
      writeFileSync(join(cwd, "README.md"), "# Changed by hand\n");
      writeFileSync(join(cwd, "staged.txt"), "staged\n");
      git(cwd, "add", "staged.txt");
      const onlyOneFile = command(
        "cat README.md; echo x > agent.txt; git commit -q -m 'Only this' agent.txt 2>&1 || { git add agent.txt; git commit -q -m 'Only this' -- agent.txt; }",
      );
      const result = await runIn(cwd, sandbox(), { agent: onlyOneFile });

      expect(result.branch).toBe("main");
      expect(result.stdout).toContain("# Changed by hand");
      expect(git(cwd, "log", "--reverse", "--format=%s")).toBe("Initial commit\nOnly this");
      expect(git(cwd, "show", "--name-only", "--format=", "HEAD")).toBe("agent.txt");
      expect(git(cwd, "status", "--porcelain")).toBe(" M README.md\nA  staged.txt");
      expect(leftovers(cwd)).toEqual([]);
    });
  });
}

const BOTH_KINDS = SANDBOXES.filter(([name]) => name === "bubblewrap" || name === "test-isolated");
for (const [name, runtimes, sandbox] of BOTH_KINDS) {
  describeWith(runtimes, `run() in a worktree, with ${name},`, () => {
    it("merges into the current branch with merge-to-head, and updates the checkout", async () => {
      const cwd = temporaryRepository();
      const result = await runIn(cwd, sandbox(), { branchStrategy: { type: "merge-to-head" } });

      expect(result.branch).toBe("main");
      expect(git(cwd, "log", "--reverse", "--format=%s")).toBe("Initial commit\nAdd a greeting\nImprove it");
      expect(readFileSync(join(cwd, "src/hello.txt"), "utf8")).toBe("hello, world\n");
      expect(git(cwd, "branch", "--format=%(refname:short)")).toBe("main");
      expect(leftovers(cwd)).toEqual([]);
    });

    it("imports what a failing agent committed, and says so", async () => {
      const cwd = temporaryRepository();
      const failing = scripted([
        { commit: "Half of it", files: { "half.txt": "1" } },
        { shell: "echo rest > rest.txt" },
        { exit: 3 },
      ]);
      const error = await runIn(cwd, sandbox(), {
        agent: failing,
        branchStrategy: { type: "branch", branch: "agent/half" },
      }).catch((reason) => reason);

      expect(error).toMatchObject({ name: "AgentFailedError", exitCode: 3, branch: "agent/half" });
      expect(error.commits.map(({ sha }: { sha: string }) => sha)).toEqual([
        git(cwd, "rev-parse", "agent/half"),
      ]);
      expect(readFileSync(join(error.preservedWorktreePath, "rest.txt"), "utf8")).toBe("rest\n");
      expect(existsSync(error.logFilePath)).toBe(true);
    });
  });
}

it("the command agent gets the prompt on its standard input, as it is, and talks on its standard output", async () => {
  const cwd = temporaryRepository();
  const prompt = `{{NOT_A_KEY}} {{SOURCE_BRANCH}} !\`exit 1\` \\{{A}} \\!\`b\` ${"long ".repeat(50_000)}`;
  const result = await run({ agent: command("cat"), sandbox: testIsolated(), cwd, prompt });
  expect(result.stdout).toBe(`${prompt}\n`);
  expect(result.commits).toEqual([]);
});
