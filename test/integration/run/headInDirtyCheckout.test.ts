import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run, type ScriptedStep, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";

/** A checkout with unfinished work: a changed file, a staged one, untracked ones, and one that git ignores. */
const dirtyRepository = (): string => {
  const cwd = temporaryRepository();
  writeFileSync(join(cwd, ".gitignore"), "ignored.txt\n");
  writeFileSync(join(cwd, "staged.txt"), "before\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "Files");
  writeFileSync(join(cwd, "README.md"), "# Half a sentence\n");
  writeFileSync(join(cwd, "staged.txt"), "after\n");
  git(cwd, "add", "staged.txt");
  mkdirSync(join(cwd, "notes"));
  for (const name of ["one", "two"]) writeFileSync(join(cwd, `notes/${name}.txt`), `${name}\n`);
  writeFileSync(join(cwd, "odd\nname.txt"), "odd\n");
  writeFileSync(join(cwd, "ignored.txt"), "ignored\n");
  return cwd;
};

const play = (cwd: string, steps: ScriptedStep[], branchStrategy?: { readonly type: "head" }) =>
  run({ agent: scripted(steps), sandbox: bubblewrap(), cwd, prompt: "x", branchStrategy });

describeWith(["bubblewrap"], "the head strategy in a checkout with uncommitted changes", () => {
  it("warns before the agent starts, and names the files, whether the strategy was chosen or not", async () => {
    for (const branchStrategy of [undefined, { type: "head" } as const]) {
      const cwd = dirtyRepository();
      const logs = join(cwd, ".sanddune/logs");
      const seen: string[] = [];
      const readLogs = () =>
        readdirSync(logs)
          .map((name) => readFileSync(join(logs, name), "utf8"))
          .join("");
      const { warnings, committedUserPaths, commits } = await run({
        agent: scripted([{ text: "Nothing to do" }]),
        sandbox: bubblewrap(),
        cwd,
        prompt: "x",
        branchStrategy,
        logging: { type: "file", onAgentStreamEvent: () => void seen.push(readLogs()) },
      });
      expect(seen[0]).toContain("uncommitted changes: README.md");
      expect(warnings).toEqual([
        expect.stringMatching(
          /uncommitted changes: README\.md, staged\.txt, notes\/, "odd\\nname\.txt"\..*`branch` or `merge-to-head`/,
        ),
      ]);
      expect({ committedUserPaths, commits }).toEqual({ committedUserPaths: undefined, commits: [] });
    }
  });

  it("lists every file of the user that the commits contain, and no other", async () => {
    const cwd = dirtyRepository();
    const { committedUserPaths, warnings } = await play(cwd, [
      { commit: "Everything", files: { "own.txt": "own\n" } },
    ]);
    expect(committedUserPaths?.toSorted()).toEqual([
      "README.md",
      "notes/one.txt",
      "notes/two.txt",
      "odd\nname.txt",
      "staged.txt",
    ]);
    expect(warnings.at(-1)).toMatch(/commits contain files that you had not committed: .*README\.md/);
  });

  it("lists a file that one commit takes in and the next one removes: it is in the history", async () => {
    const cwd = dirtyRepository();
    const { committedUserPaths } = await play(cwd, [
      {
        shell:
          "git add notes && git commit -qm Take && git rm -qr --cached notes && git commit -qm 'Give back'",
      },
    ]);
    // What the user had staged is in the first commit as well.
    expect(committedUserPaths).toEqual(["notes/one.txt", "notes/two.txt", "staged.txt"]);
  });

  it("says nothing more if the commits leave the user's files alone", async () => {
    const cwd = dirtyRepository();
    const result = await play(cwd, [
      { shell: "git reset -q; echo own > own.txt; git add own.txt; git commit -qm Own" },
    ]);
    expect(result.commits).toHaveLength(1);
    expect(result.committedUserPaths).toBeUndefined();
    expect(result.warnings).toHaveLength(1);
  });

  it("tells it in the error of a run that fails, too", async () => {
    const cwd = dirtyRepository();
    await expect(play(cwd, [{ commit: "Everything" }, { exit: 1 }])).rejects.toMatchObject({
      name: "AgentFailedError",
      committedUserPaths: expect.arrayContaining(["notes/one.txt"]),
    });
  });

  it("names only some of very many files", async () => {
    const cwd = temporaryRepository();
    for (let index = 0; index < 50; index++) writeFileSync(join(cwd, `file-${index}`), "");
    const { warnings } = await play(cwd, [{ text: "Nothing" }]);
    expect(warnings[0]).toMatch(/file-0, [^,]+, [^,]+, [^,]+, [^,]+ and 45 more\./);
  });
});

describeWith(["bubblewrap"], "no warning about uncommitted changes", () => {
  it("is given in a clean checkout, for ignored files, or for the config directory", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".gitignore"), "ignored.txt\n");
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "Ignore");
    writeFileSync(join(cwd, "ignored.txt"), "");
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/config.json"), "{}");
    const { warnings } = await play(cwd, [{ text: "Nothing" }]);
    expect(warnings).toEqual([]);
  });

  it("is given where the agent has a worktree of its own", async () => {
    const cwd = dirtyRepository();
    const branchStrategy = { type: "branch", branch: "agent/x" } as const;
    const agent = scripted([{ commit: "Everything" }]);
    const result = await run({ agent, sandbox: bubblewrap(), cwd, prompt: "x", branchStrategy });
    expect(result).toMatchObject({ warnings: [] });
    expect(result.committedUserPaths).toBeUndefined();
  });
});
