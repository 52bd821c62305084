import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createWorktree, EmbeddedRepositoryError, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { describeInBoth, failureOf, play, SANDBOXES, STRATEGIES, shell } from "../support.ts";
import { bareTrap, prepareHost, useGitIn } from "./bareTrap.ts";

/** A user's own bare repository, as tests of programs that work with git have them. */
const commitFixture = (cwd: string, path = "fixtures/repo.git"): void => {
  git(cwd, "clone", "--quiet", "--bare", ".", path);
  // An empty directory cannot be committed.
  writeFileSync(join(cwd, path, "refs/heads/main"), `${git(cwd, "rev-parse", "HEAD")}\n`);
  git(cwd, "add", "--force", path);
  git(cwd, "commit", "--quiet", "-m", "Fixture");
};

const OPEN = shell("echo open > open.txt");
const ADD = "git add --force pkg; git commit --quiet -m Package";

describeInBoth("a bare repository that an agent commits", (name) => {
  it("is not merged, is named, and stays on its branch for a person to merge", async () => {
    const { cwd, fire, fired } = prepareHost();
    const before = git(cwd, "rev-parse", "HEAD");
    const error = await failureOf(
      play(cwd, [shell(bareTrap("pkg", fire), ADD)], {
        branchStrategy: STRATEGIES["merge-to-head"],
        sandbox: SANDBOXES[name](),
      }),
    );
    expect(error).toBeInstanceOf(EmbeddedRepositoryError);
    const { paths, sourceBranch, protectedPaths, message } = error as EmbeddedRepositoryError;
    expect(paths).toEqual(["pkg"]);
    expect(protectedPaths).toContain("pkg");
    expect(git(cwd, "rev-parse", "HEAD")).toBe(before);
    expect(existsSync(join(cwd, "pkg"))).toBe(false);
    const [look, protect, merge] = message
      .split("\n")
      .slice(-3)
      .map((line) => line.trim());
    expect(look).toBe(`git diff main...${sourceBranch} -- ':(top,literal)pkg'`);
    expect(protect).toBe("git config --global safe.bareRepository explicit");
    expect(merge).toBe(`git merge ${sourceBranch}`);
    git(cwd, "merge", "--quiet", sourceBranch);
    expect(existsSync(join(cwd, "pkg/HEAD"))).toBe(true);
    expect(fired()).toEqual([]);
  });

  it("is named with branch, and is not armed in a worktree that is kept", async () => {
    const { cwd, fire, fired } = prepareHost();
    const { protectedPaths, preservedWorktreePath, warnings } = await play(
      cwd,
      [shell(bareTrap("pkg", fire), ADD), OPEN],
      { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES[name]() },
    );
    expect(protectedPaths).toContain("pkg");
    expect(warnings.join("\n")).toContain('"pkg" a directory that git takes for a bare repository');
    useGitIn(join(preservedWorktreePath as string, "pkg"));
    expect(fired()).toEqual([]);
    // What it committed is on the branch as it was.
    expect(git(cwd, "show", "agent/work:pkg/HEAD")).toMatch(/^ref: /);
  });
});

it("a bare repository that the target completes is not merged", async () => {
  const cwd = temporaryRepository();
  commitFixture(cwd, "pkg");
  git(cwd, "rm", "--quiet", "pkg/HEAD");
  git(cwd, "commit", "--quiet", "-m", "Without HEAD");
  const before = git(cwd, "rev-parse", "HEAD");
  const error = await failureOf(
    play(cwd, [{ commit: "Complete", files: { "pkg/HEAD": "ref: refs/heads/main\n" } }], {
      branchStrategy: STRATEGIES["merge-to-head"],
      sandbox: SANDBOXES.isolated(),
    }),
  );
  expect(error).toMatchObject({ name: "EmbeddedRepositoryError", paths: ["pkg"] });
  expect(git(cwd, "rev-parse", "HEAD")).toBe(before);
});

it("the command that shows a bare repository shows it, whatever its name means to git", async () => {
  const cwd = temporaryRepository();
  const files = {
    "!pkg/HEAD": "ref: refs/heads/x\n",
    "!pkg/objects/x": "1\n",
    "!pkg/refs/x": "1\n",
    "a.txt": "",
  };
  const { message } = await failureOf(
    play(cwd, [{ commit: "Hide", files }], {
      branchStrategy: STRATEGIES["merge-to-head"],
      sandbox: SANDBOXES.isolated(),
    }),
  );
  const [look = ""] = /git diff .*/.exec(message) ?? [];
  const shown = execFileSync("sh", ["-c", `${look.replace("diff", "diff --name-only")}`], {
    cwd,
    encoding: "utf8",
  });
  expect(shown.trim().split("\n")).toEqual(["!pkg/HEAD", "!pkg/objects/x", "!pkg/refs/x"]);
});

it("a change beside a bare repository of the user is merged", async () => {
  const cwd = temporaryRepository();
  commitFixture(cwd);
  const { protectedPaths } = await play(
    cwd,
    [{ commit: "Work", files: { "config/app.txt": "1\n", "fixtures/repo.git/refs/heads/x": "1\n" } }],
    { branchStrategy: STRATEGIES["merge-to-head"], sandbox: SANDBOXES.isolated() },
  );
  expect(protectedPaths).toEqual([]);
  expect(git(cwd, "log", "-1", "--format=%s", "main")).toBe("Work");
});

describeWith(["bubblewrap"], "in the user's checkout, after a head run,", () => {
  it.each([
    ["committed", (fire: string) => `${bareTrap("pkg", fire)}\n${ADD}`],
    ["left", (fire: string) => bareTrap("pkg", fire)],
    [
      "left where git ignores it",
      (fire: string) => `mkdir pkg; echo '*' > pkg/.gitignore; ${bareTrap("pkg/deep", fire)}`,
    ],
    [
      "hidden in a repository",
      (fire: string) => `git init --quiet pkg; rm -r pkg/.git; ${bareTrap("pkg/.git", fire)}`,
    ],
    [
      "made by a commondir",
      (fire: string) =>
        `${bareTrap("pkg", fire)}; mkdir common; mv pkg/objects pkg/refs pkg/config common; echo ../common > pkg/commondir; git config --file common/config --unset core.worktree; git config --file common/config core.bare false; git config --file common/config alias.st '!${fire}'`,
    ],
    ["made twice, with another case,", (fire: string) => `${bareTrap("pkg", fire)}; cp pkg/HEAD pkg/head`],
  ])("a bare repository that was %s is not armed", async (_, script) => {
    const { cwd, fire, fired } = prepareHost();
    const { warnings } = await play(cwd, [shell(script(fire))]);
    expect(warnings.join("\n")).toMatch(/bare repository|made a git repository/);
    const inside = ["pkg", ...readdirSync(join(cwd, "pkg")).map((name) => `pkg/${name}`)];
    for (const path of inside.filter((name) => !existsSync(join(cwd, name, ".git")))) {
      if (existsSync(join(cwd, path, "."))) useGitIn(join(cwd, path));
    }
    expect(fired()).toEqual([]);
  });

  it("the user's own bare repositories are as they were", async () => {
    const cwd = temporaryRepository();
    commitFixture(cwd);
    git(cwd, "clone", "--quiet", "--bare", ".", "mine.git");
    git(join(cwd, "mine.git"), "worktree", "add", "--quiet", "-b", "linked", "../linked");
    const { warnings } = await play(cwd, [shell("echo 1 > fixtures/repo.git/description"), OPEN]);
    expect(warnings).toEqual([expect.stringContaining("has uncommitted changes: linked/, mine.git/")]);
    for (const path of ["fixtures/repo.git", "mine.git", "mine.git/worktrees/linked"]) {
      expect(existsSync(join(cwd, path, "HEAD"))).toBe(true);
    }
  });

  it("a bare repository of the user that the agent has armed is armed no more", async () => {
    const { cwd, fire, fired } = prepareHost();
    git(cwd, "clone", "--quiet", "--bare", ".", "mine.git");
    const arm = `git config --file mine.git/config core.fsmonitor '${fire}; :'; git config --file mine.git/config core.bare false; git config --file mine.git/config core.worktree ..`;
    const { warnings } = await play(cwd, [shell(arm)]);
    expect(warnings.join("\n")).toContain("mine.git");
    useGitIn(join(cwd, "mine.git"));
    expect(fired()).toEqual([]);
  });
});

describeWith(["bubblewrap"], "in a worktree", () => {
  const options = { branchStrategy: STRATEGIES.branch } as const;

  it("the user's own bare repositories are as they were, also when it is taken over", async () => {
    const cwd = temporaryRepository();
    commitFixture(cwd);
    for (const turn of ["first", "second"]) {
      const { preservedWorktreePath, warnings } = await play(
        cwd,
        [shell(`echo ${turn} > open.txt`)],
        options,
      );
      expect(warnings.filter((sentence) => /bare/.test(sentence))).toEqual([]);
      expect(git(preservedWorktreePath as string, "status", "--porcelain")).toBe("?? open.txt");
    }
  });

  it("one that the agent has armed is armed no more", async () => {
    const { cwd, fire, fired } = prepareHost();
    commitFixture(cwd);
    const arm = `cd fixtures/repo.git; for pair in "core.bare false" "core.worktree .."; do git config --file config $pair; done; git config --file config core.fsmonitor '${fire}; :'`;
    const { preservedWorktreePath } = await play(cwd, [shell(arm)], options);
    const fixture = join(preservedWorktreePath as string, "fixtures/repo.git");
    expect(readFileSync(join(fixture, "config"), "utf8")).toContain("fsmonitor");
    useGitIn(fixture);
    expect(fired()).toEqual([]);
  });

  it("that a crash left behind one is not trusted, even if its commit is on the branch", async () => {
    const { cwd, fire, fired } = prepareHost();
    const steps = [shell(bareTrap("pkg", fire), ADD), OPEN];
    const { preservedWorktreePath } = await play(cwd, steps, options);
    const trap = join(preservedWorktreePath as string, "pkg");
    const renamed = readdirSync(trap).find((name) => name.startsWith("HEAD.sanddune-")) as string;
    renameSync(join(trap, renamed), join(trap, "HEAD")); // As it was before the run came to an end.
    await play(cwd, [shell("echo more >> open.txt")], options);
    useGitIn(trap);
    expect(fired()).toEqual([]);
  });

  it.each([
    ["", {}],
    [", with files copied into it", { copyToWorktree: ["README.md"] }],
  ])("of a branch that an earlier run has left, one is not armed%s", async (_, more) => {
    const { cwd, fire, fired } = prepareHost();
    await play(cwd, [shell(bareTrap("pkg", fire), ADD)], options);
    const { preservedWorktreePath, warnings } = await play(cwd, [OPEN], { ...options, ...more });
    expect(warnings.join("\n")).toContain('"pkg" a directory that git takes for a bare repository');
    useGitIn(join(preservedWorktreePath as string, "pkg"));
    expect(fired()).toEqual([]);
  });

  it("of the user that lasts, a bare repository that the user commits between the calls is as it was", async () => {
    const cwd = temporaryRepository();
    git(cwd, "branch", "agent/work");
    await using worktree = await createWorktree({ cwd, branchStrategy: STRATEGIES.branch });
    const work = () => worktree.run({ agent: scripted([OPEN]), sandbox: bubblewrap(), prompt: "x" });
    await work();
    commitFixture(worktree.worktreePath);
    expect((await work()).warnings.filter((sentence) => /bare/.test(sentence))).toEqual([]);
    expect(existsSync(join(worktree.worktreePath, "fixtures/repo.git/HEAD"))).toBe(true);
  });

  it("that lasts, one is not armed between the calls", async () => {
    const { cwd, fire, fired } = prepareHost();
    await using worktree = await createWorktree({ cwd, branchStrategy: STRATEGIES.branch });
    const agent = scripted([shell(bareTrap("pkg", fire), ADD)]);
    const { protectedPaths } = await worktree.run({ agent, sandbox: bubblewrap(), prompt: "x" });
    expect(protectedPaths).toContain("pkg");
    useGitIn(join(worktree.worktreePath, "pkg"));
    expect(fired()).toEqual([]);
  });
});
