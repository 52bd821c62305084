import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigChangeError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { writeFiles } from "../../helpers/repository/writeFiles.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, SANDBOXES, STRATEGIES, shell } from "../support.ts";

/** Files that something starts by itself: git, an editor, a shell, a package manager, an agent, a CI server. */
const RUN_BY_THEMSELVES = [
  ".husky/pre-commit",
  ".githooks/post-checkout",
  ".envrc",
  ".claude/settings.json",
  ".mcp.json",
  ".vscode/tasks.json",
  "package.json",
  "packages/app/package.json",
  "node_modules/.bin/git",
  ".github/workflows/ci.yml",
  ".gitlab-ci.yml",
  ".circleci/config.yml",
  ".pre-commit-config.yaml",
  "lefthook.yml",
  ".devcontainer/devcontainer.json",
  ".npmrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".gitattributes",
  ".gitmodules",
  ".sanddune/prompt.md",
  ".cursor/mcp.json",
  ".lfsconfig",
  ".gitconfig",
  ".yarn/releases/yarn-4.cjs",
  "bitbucket-pipelines.yml",
  "azure-pipelines.yml",
  ".forgejo/workflows/ci.yml",
  ".zed/tasks.json",
  "app.code-workspace",
  "mise.toml",
  ".cargo/config.toml",
  "CLAUDE.md",
  "AGENTS.md",
  ".GITHUB/Workflows/upper.yml",
  ".Envrc.d/../.ENVRC".replace(".Envrc.d/../", "sub/"),
];
const HARMLESS = ["src/index.ts", "docs/husky.md", "envrc", "github/workflows/x.yml", "my-package.json.txt"];

const plant = (paths: readonly string[]) => ({
  commit: "Plant",
  files: Object.fromEntries(paths.map((path) => [path, "{}\n"])),
});

const LINKS = [
  "ln -s /etc/passwd absolute",
  "ln -s ../../outside climbing",
  "mkdir -p d; ln -s ../../x d/deep",
  "ln -s README.md inside",
  "ln -s ../README.md d/inside",
  "ln -s .git/config into-git",
  "ln -s ../.sanddune/runs d/into-runs",
];
const LINKS_OUT = ["absolute", "climbing", "d/deep", "into-git", "d/into-runs"];

const sandbox = SANDBOXES.isolated();

describe("the result names", () => {
  it("every file that runs by itself, and no other, and symbolic links that leave the tree", async () => {
    const { protectedPaths } = await play(
      temporaryRepository(),
      [plant([...RUN_BY_THEMSELVES, ...HARMLESS]), shell(...LINKS), { commit: "Links" }],
      { branchStrategy: STRATEGIES.branch, sandbox },
    );
    expect([...protectedPaths].sort()).toEqual([...RUN_BY_THEMSELVES, ...LINKS_OUT].sort());
  });

  it("a submodule that would run a command when it is fetched, which is not fetched", async () => {
    const cwd = temporaryRepository();
    const modules = '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% canary\n';
    const { protectedPaths } = await play(cwd, [{ commit: "Module", files: { ".gitmodules": modules } }], {
      branchStrategy: STRATEGIES.branch,
      sandbox,
    });
    expect(protectedPaths).toEqual([".gitmodules"]);
    expect(existsSync(join(cwd, "canary"))).toBe(false);
  });

  it("a file that is deleted, renamed away or only made executable", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".husky"));
    for (const name of ["a", "b", "c"]) writeFileSync(join(cwd, ".husky", name), "{}\n");
    git(cwd, "add", ".husky");
    git(cwd, "commit", "--quiet", "-m", "Hooks");
    const { protectedPaths } = await play(
      cwd,
      [shell("git rm -q .husky/a; git mv .husky/b b; chmod +x .husky/c"), { commit: "Change" }],
      { branchStrategy: STRATEGIES.branch, sandbox },
    );
    expect([...protectedPaths].sort()).toEqual([".husky/a", ".husky/b", ".husky/c"]);
  });

  it.each(["the checkout of the run", "another checkout"])(
    "everything below the folder of the environment that tests the work, if it is in %s",
    async (place) => {
      const cwd = temporaryRepository();
      const definition = "export default { tests: { ok: () => {} } };\n";
      writeFiles(cwd, { "grading/environment.mjs": definition, "grading/tests/a.test.mjs": "\n" });
      git(cwd, "add", ".");
      git(cwd, "commit", "--quiet", "-m", "Environment");
      const linked = join(temporaryDirectory(), "linked");
      git(cwd, "worktree", "add", "--quiet", "-b", "linked", linked);
      const files = { "grading/tests/a.test.mjs": "1;\n", "grading/new/b.mjs": "\n", "grading.txt": "\n" };
      const { protectedPaths } = await play(
        place === "another checkout" ? linked : cwd,
        [{ commit: "Change", files }],
        { branchStrategy: STRATEGIES.branch, sandbox, environment: join(cwd, "grading") },
      );
      expect([...protectedPaths].sort()).toEqual(["grading/new/b.mjs", "grading/tests/a.test.mjs"]);
    },
  );

  it("what any of several iterations touched, also when the merge follows", async () => {
    const cwd = temporaryRepository();
    const { protectedPaths } = await play(
      cwd,
      ({ iteration }) => [plant([iteration === 1 ? ".envrc" : "src/x.ts"])],
      { branchStrategy: STRATEGIES["merge-to-head"], sandbox, maxIterations: 2 },
    );
    expect(protectedPaths).toEqual([".envrc"]);
    expect(git(cwd, "ls-files", ".envrc")).toBe(".envrc");
  });
});

/** A repository whose config directory is committed. */
const repositoryWithConfig = (): string => {
  const cwd = temporaryRepository();
  mkdirSync(join(cwd, ".sanddune"));
  writeFileSync(join(cwd, ".sanddune/main.mts"), "good();\n");
  writeFileSync(join(cwd, ".sanddune/other.mts"), "good();\n");
  git(cwd, "add", ".sanddune/main.mts", ".sanddune/other.mts");
  git(cwd, "commit", "--quiet", "-m", "Set up");
  return cwd;
};

describe("merge-to-head", () => {
  const options = { branchStrategy: STRATEGIES["merge-to-head"], sandbox } as const;

  it.each([
    ["changes", "echo 'evil()' > .sanddune/main.mts"],
    ["adds to", "mkdir -p .sanddune/node_modules/x; echo 1 > .sanddune/node_modules/x/index.js"],
    ["deletes from", "git rm -rq .sanddune"],
  ])(
    "does not merge what %s the config directory, and keeps it for somebody to look at",
    async (_, script) => {
      const cwd = repositoryWithConfig();
      const before = git(cwd, "rev-parse", "HEAD");
      const error = await failureOf(
        play(cwd, [shell(script, "git add --force --all .sanddune || true"), { commit: "Improve" }], options),
      );
      expect(error).toBeInstanceOf(ConfigChangeError);
      const { paths, sourceBranch, message } = error as ConfigChangeError;
      expect(paths.every((path) => path.startsWith(".sanddune"))).toBe(true);
      expect(message).toContain(`git merge ${sourceBranch}`);
      expect(git(cwd, "rev-parse", "HEAD")).toBe(before);
      expect(readFileSync(join(cwd, ".sanddune/main.mts"), "utf8")).toBe("good();\n");
      expect(git(cwd, "log", "-1", "--format=%s", sourceBranch)).toBe("Improve");
    },
  );
});

describeWith(["bubblewrap"], "in a bind-mount sandbox", () => {
  it("protected paths are named, and what touches the config directory is not merged", async () => {
    const cwd = repositoryWithConfig();
    const before = git(cwd, "rev-parse", "HEAD");
    const change = "echo 'evil()' > .sanddune/main.mts; git rm -q .sanddune/other.mts";
    const error = await failureOf(
      play(
        cwd,
        [plant([...RUN_BY_THEMSELVES, ...HARMLESS]), shell(...LINKS, change), { commit: "Improve" }],
        { branchStrategy: STRATEGIES["merge-to-head"] },
      ),
    );
    expect(error).toBeInstanceOf(ConfigChangeError);
    const { paths, sourceBranch, protectedPaths = [] } = error as ConfigChangeError;
    const config = [".sanddune/main.mts", ".sanddune/other.mts"];
    expect([...paths].sort()).toEqual([...config, ".sanddune/prompt.md"]);
    expect([...protectedPaths].sort()).toEqual([...RUN_BY_THEMSELVES, ...LINKS_OUT, ...config].sort());
    expect(git(cwd, "rev-parse", "HEAD")).toBe(before);
    expect(readFileSync(join(cwd, ".sanddune/main.mts"), "utf8")).toBe("good();\n");
    expect(git(cwd, "log", "-1", "--format=%s", sourceBranch)).toBe("Improve");
  });
});
