// Every commit that the agent made is imported or kept before its git directory is removed.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  command,
  ImportRefusedError,
  type RunResult,
  run,
  type SandboxProvider,
} from "../../../src/index.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import {
  describeInBoth,
  failureOf,
  journalsOf,
  play,
  runRefs,
  SANDBOXES,
  STRATEGIES,
  shell,
} from "../support.ts";

const WORK = { commit: "Work", files: { "work.txt": "work\n" } } as const;

/** Subjects of all commits that a ref of the host leads to. */
const everySubject = (cwd: string): string[] => git(cwd, "log", "--all", "--format=%s").split("\n");

const commit = (subject: string): string => `git commit --quiet --allow-empty -m '${subject}'`;
/** On a commit that no branch has. */
const aside = (subject: string, then: string): string =>
  `git checkout --quiet --detach; ${commit(subject)}; ${then}; git checkout --quiet -`;

/** Places that an agent can leave commits in. Each is followed by what has to be found on the host. */
const PLACES: Readonly<Record<string, readonly [string, RegExp]>> = {
  "a tag": [aside("tagged", "git tag light"), /^tagged$/],
  "an annotated tag": [aside("released", "git tag -a release -m Notes"), /^released$/],
  "a ref outside of refs/heads": [aside("far", "git update-ref refs/far/away HEAD"), /^far$/],
  "a remote branch": [aside("remote", "git update-ref refs/remotes/origin/x HEAD"), /^remote$/],
  "a ref that looks like one of sanddune's": [
    aside("posing", "git update-ref refs/sanddune/uncommitted HEAD"),
    /^posing$/,
  ],
  "the detached HEAD of a linked worktree": [
    `git worktree add --quiet --detach "$HOME/linked" && git -C "$HOME/linked" ${commit("linked").slice(4)}`,
    /^linked$/,
  ],
  "a detached HEAD that was left": [aside("left", "true"), /^left$/],
  stashes: [
    "for n in $(seq 12); do echo $n > README.md; git stash push --quiet -m stash-$n; done",
    /^On .*: stash-/,
  ],
  "sixty branches": [
    `for n in $(seq 60); do git branch branch-$n $(git commit-tree -p HEAD -m branch-$n 'HEAD^{tree}'); done`,
    /^branch-/,
  ],
};
const EXPECTED_COUNT: Readonly<Record<string, number>> = { stashes: 12, "sixty branches": 60 };

describeInBoth("what an agent commits anywhere", (name) => {
  it("is kept, each under a ref: tags, other refs, worktrees, all stashes, any number of branches", async () => {
    const cwd = temporaryRepository();
    const scripts = Object.values(PLACES).map(([script]) => shell(script));
    const result = await play(cwd, [WORK, ...scripts], {
      branchStrategy: STRATEGIES.branch,
      sandbox: SANDBOXES[name](),
    });
    expect(result.commits).toHaveLength(1);
    const subjects = everySubject(cwd);
    for (const [place, [, pattern]] of Object.entries(PLACES)) {
      const found = subjects.filter((subject) => pattern.test(subject));
      expect(found, place).toHaveLength(EXPECTED_COUNT[place] ?? 1);
    }
    expect(git(cwd, "for-each-ref", "--format=%(objecttype)", "refs/sanddune")).toContain("tag");
    expect(result.warnings.join("\n")).toMatch(/\d+ more refs.*git for-each-ref/);
    git(cwd, "fsck", "--strict", "--connectivity-only");
  });

  it("on top of what a tag or another branch has needs no ref of its own", async () => {
    const cwd = temporaryRepository();
    const result = await play(cwd, [WORK, shell("git tag light; git branch same; git branch old HEAD~1")], {
      branchStrategy: STRATEGIES.branch,
      sandbox: SANDBOXES[name](),
    });
    expect(result.warnings).toEqual([]);
    expect(runRefs(cwd)).toBe("");
  });

  it("is kept if it builds on nothing: notes, a branch without a history", async () => {
    const cwd = temporaryRepository();
    const result = await play(
      cwd,
      [shell("git notes add -m Noted; git branch orphan $(git commit-tree -m Orphan 'HEAD^{tree}')")],
      { branchStrategy: STRATEGIES.branch, sandbox: SANDBOXES[name]() },
    );
    expect(result.commits).toEqual([]);
    expect(everySubject(cwd)).toEqual(expect.arrayContaining(["Notes added by 'git notes add'", "Orphan"]));
  });

  it("is kept under its other name if the agent renames its branch", async () => {
    const cwd = temporaryRepository();
    const result = await play(cwd, [WORK, shell("git branch -m renamed")], {
      branchStrategy: STRATEGIES.branch,
      sandbox: SANDBOXES[name](),
    });
    expect(result.commits).toEqual([]);
    expect(everySubject(cwd)).toContain("Work");
    expect(result.warnings.join("\n")).toContain('also committed to "renamed"');
    expect(result.warnings.join("\n")).toContain("renamed or deleted the branch agent/work");
  });
});

const BRANCH_FILE = '"$(git rev-parse --absolute-git-dir)/refs/heads/agent/work"';
const DAMAGES = {
  "is empty": `: > ${BRANCH_FILE}`,
  "is garbage": `echo garbage > ${BRANCH_FILE}`,
  "names a commit that nobody has": `echo ${"1".repeat(40)} > ${BRANCH_FILE}`,
  "is gone": `rm ${BRANCH_FILE}; : > "$(git rev-parse --absolute-git-dir)/packed-refs"`,
};

describeInBoth("a branch in the sandbox that", (name) => {
  it.each(Object.entries(DAMAGES))("%s is a refusal that keeps everything", async (_, damage) => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      play(cwd, [WORK, shell(aside("aside", "git tag aside"), damage)], {
        branchStrategy: STRATEGIES.branch,
        sandbox: SANDBOXES[name](),
      }),
    );
    expect(error).toBeInstanceOf(ImportRefusedError);
    const { gitDirectory, archivePath, message } = error as ImportRefusedError;
    const kept = name === "isolated" ? archivePath : gitDirectory;
    expect(kept).toSatisfy(existsSync);
    expect(message).toContain(kept);
    if (name === "bubblewrap") expect(message).toContain(`sanddune rescue ${error.runId}`);
    expect(git(cwd, "rev-parse", "agent/work")).toBe(git(cwd, "rev-parse", "main"));
    // The log of the branch still knows its last commit, and other refs are intact.
    expect(everySubject(cwd)).toEqual(expect.arrayContaining(["Work", "aside"]));
  });
});

describeWith(["bubblewrap"], "the git directory of a bind-mount sandbox", () => {
  const onBranch = { branchStrategy: STRATEGIES.branch };

  it("is kept if a ref in it is damaged, although everything else was imported", async () => {
    const cwd = temporaryRepository();
    const result = await play(cwd, [WORK, shell(": > /sanddune/git/refs/heads/other")], onBranch);
    expect(result.commits).toHaveLength(1);
    expect(result.warnings.join("\n")).toContain(`sanddune rescue ${result.runId}`);
    expect(join(cwd, ".sanddune/runs", result.runId, "files/git/refs/heads/other")).toSatisfy(existsSync);
    expect(journalsOf(cwd).join("\n")).toContain('"what":"git directory"');
  });

  it("may have a file commondir: the commits are imported, and it is kept", async () => {
    const cwd = temporaryRepository();
    const elsewhere = shell("mkdir -p /tmp/elsewhere; echo /tmp/elsewhere > /sanddune/git/commondir");
    const result = await play(cwd, [WORK, elsewhere], onBranch);
    expect(result.commits).toHaveLength(1);
    expect(join(cwd, ".sanddune/runs", result.runId, "files/git/commondir.sanddune")).toSatisfy(existsSync);
  });

  it("may list commits as known that the host does not know: they are imported nevertheless", async () => {
    const cwd = temporaryRepository();
    const hidden = shell(
      "git checkout --quiet main",
      aside("hidden", "git tag hidden; echo ^$(git rev-parse HEAD) >> /sanddune/git/sanddune-known-commits"),
    );
    const result = await play(cwd, [WORK, hidden], onBranch);
    expect(result.commits).toHaveLength(1);
    expect(everySubject(cwd)).toContain("hidden");
    expect(existsSync(join(cwd, ".sanddune/runs", result.runId, "files"))).toBe(false);
  });

  it("is removed after an ordinary run, and no ref stays", async () => {
    const cwd = temporaryRepository();
    const rewriting = shell(
      "git commit --quiet --amend -m Work; git checkout --quiet main; git checkout --quiet -",
    );
    const result = await play(cwd, [WORK, rewriting], onBranch);
    expect(result.warnings).toEqual([]);
    expect(existsSync(join(cwd, ".sanddune/runs", result.runId, "files"))).toBe(false);
    expect(runRefs(cwd)).toBe("");
  });
});

/** Commits without end, in the background, and notes every commit that it has made in a directory of the host. */
const committingOn = (notes: string): string => `cat > "$HOME/background" <<'END'
while :; do git commit --quiet --allow-empty -m Late && git rev-parse HEAD >> ${notes}; done
END
setsid nohup sh "$HOME/background" >/dev/null 2>&1 &
until [ -s ${notes} ]; do sleep 0.02; done`;

const runInBackground = async (cwd: string, sandbox: SandboxProvider, notes: string): Promise<RunResult> =>
  (await run({
    agent: command(committingOn(notes)),
    ...{ sandbox, cwd, prompt: "x", branchStrategy: { type: "merge-to-head" } },
  } as Parameters<typeof run>[0])) as RunResult;

const expectAllLanded = (cwd: string, notes: string): void => {
  const made = readFileSync(notes, "utf8").split("\n").filter(Boolean);
  const landed = new Set(git(cwd, "rev-list", "main").split("\n"));
  expect(made.filter((sha) => !landed.has(sha))).toEqual([]);
};

describeWith(["docker"], "a process that the agent has left in a container", () => {
  it("loses no commit that it makes before the container ends: all are merged", async () => {
    const cwd = temporaryRepository();
    const directory = temporaryDirectory();
    const notes = join(directory, "notes");
    const mounts = [{ hostPath: directory, sandboxPath: directory }];
    const result = await runInBackground(cwd, docker({ imageName: TEST_IMAGE, mounts }), notes);
    expectAllLanded(cwd, notes);
    expect(existsSync(join(cwd, ".sanddune/runs", result.runId, "files"))).toBe(false);
  });
});

describe("a process that the agent has left in an isolated sandbox", () => {
  it("that commits after the agent has ended and then rests loses nothing", async () => {
    const cwd = temporaryRepository();
    const notes = join(temporaryDirectory(), "notes");
    const background = `cat > "$HOME/background" <<'END'
until [ -e "$GIT_DIRECTORY/sanddune-export.bundle" ]; do :; done
git commit --quiet --allow-empty -m Late; git rev-parse HEAD >> ${notes}
END
export GIT_DIRECTORY=$(git rev-parse --absolute-git-dir)
git commit --quiet --allow-empty -m Work
setsid nohup sh "$HOME/background" >/dev/null 2>&1 &`;
    const result = await run({
      agent: command(background),
      ...{ sandbox: testIsolated(), cwd, prompt: "x", branchStrategy: { type: "merge-to-head" } },
    } as Parameters<typeof run>[0]);
    expectAllLanded(cwd, notes);
    expect(result.commits).toHaveLength(2);
  });
});

describe("a refusal without a bundle", () => {
  it("says where the files of an isolated sandbox are, and how to look at them", async () => {
    const cwd = temporaryRepository();
    const error = await failureOf(
      play(cwd, [WORK, shell("rm .git/HEAD")], {
        branchStrategy: STRATEGIES.branch,
        sandbox: SANDBOXES.isolated(),
      }),
    );
    expect(error).toBeInstanceOf(ImportRefusedError);
    const { archivePath, bundlePath, message } = error as ImportRefusedError;
    expect(bundlePath).toBeUndefined();
    expect(message).toContain(`tar --list --file ${archivePath}`);
    expect(execFileSync("tar", ["--list", "--file", archivePath as string], { encoding: "utf8" })).toContain(
      "./work.txt",
    );
  });
});
