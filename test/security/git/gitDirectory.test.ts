import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ImportRefusedError, SandduneError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import {
  describeInBoth,
  failureOf,
  meetingPoint,
  play,
  runRefs,
  SANDBOXES,
  STRATEGIES,
  shell,
  userRefs,
} from "../support.ts";

const COMMIT = { commit: "Before the attack", files: { "work.txt": "work\n" } } as const;

/** Another repository of the user, with a commit that must stay where it is. */
const foreignRepository = () => {
  const path = temporaryRepository();
  writeFileSync(join(path, "secret.txt"), "secret\n");
  git(path, "add", ".");
  git(path, "commit", "--quiet", "--amend", "-m", "Secret");
  return { path, sha: git(path, "rev-parse", "HEAD") };
};

const hasObject = (cwd: string, sha: string): boolean => {
  try {
    git(cwd, "cat-file", "-e", sha);
    return true;
  } catch {
    return false;
  }
};

describe("a .git that was replaced in an isolated sandbox", () => {
  const replacements = [
    [
      "a file that points to another repository",
      (foreign: string) => `rm -rf .git; echo "gitdir: ${foreign}/.git" > .git`,
    ],
    ["a symbolic link to another repository", (foreign: string) => `rm -rf .git; ln -s ${foreign}/.git .git`],
    [
      "a copy of another repository",
      (foreign: string) => `rm -rf .git; cp -r ${foreign}/.git .git; git branch -m main agent/work`,
    ],
    ["a symbolic link to the agent's own copy", () => "mv .git ../moved; ln -s ../moved .git"],
    ["a file of nonsense", () => "rm -rf .git; echo nonsense > .git"],
    ["an empty directory", () => "rm -rf .git; mkdir .git"],
    ["nothing", () => "rm -rf .git"],
    ["a FIFO", () => "rm -rf .git; mkfifo .git"],
  ] as const;

  it.each(replacements)(
    "by %s is refused, nothing foreign comes in, and what an earlier iteration brought home stays",
    async (_, replace) => {
      const cwd = temporaryRepository();
      const foreign = foreignRepository();
      const error = await failureOf(
        play(cwd, ({ iteration }) => (iteration === 1 ? [COMMIT] : [shell(replace(foreign.path))]), {
          branchStrategy: STRATEGIES.branch,
          sandbox: SANDBOXES.isolated(),
          maxIterations: 2,
        }),
      );
      expect(error).toBeInstanceOf(ImportRefusedError);
      expect(hasObject(cwd, foreign.sha)).toBe(false);
      expect(git(foreign.path, "rev-parse", "HEAD")).toBe(foreign.sha);
      expect(error.commits).toHaveLength(1);
      expect(git(cwd, "show", "agent/work:work.txt")).toBe("work");
    },
  );
});

describeWith(["bubblewrap"], "the .git of a bind-mount sandbox", () => {
  it.each(["head", "branch"] as const)("cannot be removed, moved or replaced with %s", async (strategy) => {
    const cwd = temporaryRepository();
    const before = readFileSync(join(cwd, ".git/config"), "utf8");
    const tries = [
      "rm -rf .git",
      "mv .git other",
      "ln -sfn /tmp .git",
      "rmdir .git",
      "unlink .git",
      "mv ../repo ../other",
    ];
    const result = await play(
      cwd,
      [
        shell("git rev-parse HEAD >/dev/null && stat -c %i .git > /tmp/before"),
        shell(...tries.map((line) => `${line} 2>/dev/null`)),
        shell('[ "$(stat -c %i .git)" = "$(cat /tmp/before)" ] && echo same-inode'),
        shell(
          "git status >/dev/null 2>&1 || { mkdir -p .git/refs .git/objects; echo 'ref: refs/heads/x' > .git/HEAD; }",
        ),
      ],
      { branchStrategy: STRATEGIES[strategy] },
    ).catch((error: unknown) => error);
    expect(readFileSync(join(cwd, ".git/config"), "utf8")).toBe(before);
    expect(git(cwd, "status", "--porcelain")).toBe("");
    if (result instanceof Error) expect(result).toBeInstanceOf(SandduneError);
  });

  it("holds nothing of the host that can be written to", async () => {
    const cwd = temporaryRepository();
    const before = git(cwd, "cat-file", "--batch-all-objects", "--batch-check");
    await play(
      cwd,
      [
        shell(
          "for store in /sanddune/objects/*; do",
          '  touch "$store/planted" && echo WRITABLE; rm -rf "$store"/??; mkdir -p "$store/info"; echo /etc > "$store/info/alternates"',
          "done",
        ),
        { commit: "Still works" },
      ],
      { branchStrategy: STRATEGIES.branch },
    );
    expect(readdirSync(join(cwd, ".git/objects")).filter((name) => name === "planted")).toEqual([]);
    expect(git(cwd, "cat-file", "--batch-all-objects", "--batch-check").split("\n")).toEqual(
      expect.arrayContaining(before.split("\n")),
    );
  });

  it("a rampage in one sandbox changes no ref, tag or remote of the host, and its siblings still land", async () => {
    const cwd = temporaryRepository();
    git(cwd, "tag", "-a", "v1", "-m", "One");
    git(cwd, "tag", "light");
    git(cwd, "branch", "feature");
    git(cwd, "remote", "add", "origin", "https://user:secret@example.invalid/x.git");
    const before = { refs: userRefs(cwd), config: readFileSync(join(cwd, ".git/config")) };
    const { sandboxes, wait, meet } = meetingPoint();
    const branch = (name: string) =>
      ({ branchStrategy: { type: "branch", branch: name }, sandbox: sandboxes.bubblewrap() }) as const;
    const siblings = ["one", "two", "three"].map((name) =>
      play(cwd, [wait, { commit: name, files: { [`${name}.txt`]: `${name}\n` } }], branch(`sibling/${name}`)),
    );
    await play(
      cwd,
      [
        shell(
          "git remote -v > remotes.txt",
          "git tag -d v1 light; git remote set-url origin https://evil.invalid; git remote remove origin",
          "git branch -f main HEAD~0; git commit -q --allow-empty -m evil; git branch -f main HEAD; git update-ref refs/heads/feature HEAD",
          "git update-ref -d refs/heads/sibling/one; git worktree prune --expire=now; git worktree list",
          "git reflog expire --expire=now --all; git gc --quiet --prune=now; git pack-refs --all; rm -rf .git/refs/heads/sibling",
        ),
        { commit: "Rampage" },
      ],
      branch("rampage"),
    );
    const landed: Awaited<(typeof siblings)[number]>[] = [];
    await meet(() => undefined);
    for (const sibling of siblings) landed.push(await sibling);
    expect(landed.map(({ commits }) => commits.length)).toEqual([1, 1, 1]);
    for (const { branch: name, commits } of landed) expect(git(cwd, "rev-parse", name)).toBe(commits[0]?.sha);
    for (const name of ["sibling/one", "sibling/two", "sibling/three", "rampage"]) {
      expect(git(cwd, "rev-parse", "--verify", name)).not.toBe("");
      git(cwd, "branch", "--quiet", "-D", name);
    }
    expect(userRefs(cwd)).toBe(before.refs);
    expect(readFileSync(join(cwd, ".git/config"))).toEqual(before.config);
    git(cwd, "fsck", "--strict");
  });

  it("credentials in remotes do not enter the sandbox", async () => {
    const cwd = temporaryRepository();
    git(cwd, "remote", "add", "origin", "https://user:s3cr3t-token@example.invalid/x.git");
    git(cwd, "remote", "add", "at", "https://user:p@s3cr3t-token@example.invalid/y.git");
    git(cwd, "config", "remote.origin.pushurl", "https://user:s3cr3t-token@example.invalid/x.git");
    git(cwd, "config", "http.https://example.invalid.extraheader", "AUTHORIZATION: basic s3cr3t-token");
    git(cwd, "config", "url.https://user:s3cr3t-token@example.invalid/.insteadOf", "example:");
    await play(
      cwd,
      [
        shell("grep -r s3cr3t-token /sanddune/git > /sanddune/repo/leak.txt; git remote -v >> remotes.txt"),
        { commit: "Report" },
      ],
      { branchStrategy: STRATEGIES.branch },
    );
    expect(git(cwd, "show", "agent/work:leak.txt")).toBe("");
    expect(git(cwd, "show", "agent/work:remotes.txt")).toContain("https://example.invalid/x.git");
  });
});

describeInBoth("the host may change anything during a run", (name) => {
  it("history is rewritten, branches and tags are deleted, gc prunes everything: the sandbox's commits still land", async () => {
    const cwd = temporaryRepository();
    git(cwd, "checkout", "--quiet", "-b", "side");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Side");
    git(cwd, "tag", "-a", "side-tag", "-m", "Tag");
    git(cwd, "checkout", "--quiet", "main");
    git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Base");
    const base = git(cwd, "rev-parse", "main");
    const { sandboxes, wait, meet } = meetingPoint();
    const running = play(cwd, [wait, COMMIT], {
      branchStrategy: STRATEGIES.branch,
      sandbox: sandboxes[name](),
    });
    await meet(() => {
      git(cwd, "reset", "--quiet", "--hard", "HEAD^");
      git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Rewritten");
      git(cwd, "branch", "--quiet", "-D", "side");
      git(cwd, "tag", "-d", "side-tag");
      git(cwd, "reflog", "expire", "--expire=now", "--all");
      git(cwd, "gc", "--quiet", "--prune=now");
    });
    const result = await running;
    expect(result.commits).toHaveLength(1);
    expect(git(cwd, "rev-parse", "agent/work^")).toBe(base);
    expect(git(cwd, "show", "agent/work:work.txt")).toBe("work");
    expect(runRefs(cwd)).toBe("");
  });
});

describeWith(["bubblewrap"], "a checkout that an agent works in", () => {
  it("keeps its own .sanddune, which cannot be changed", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, ".sanddune"));
    writeFileSync(join(cwd, ".sanddune/.env"), "TOKEN=s3cr3t\n");
    writeFileSync(join(cwd, ".sanddune/prompt.md"), "mine\n");
    const outside = temporaryDirectory();
    await play(cwd, [
      shell(
        "cat .sanddune/.env > seen.txt; ls .sanddune/runs .sanddune/logs >> seen.txt",
        "echo evil > .sanddune/prompt.md; rm -rf .sanddune; mv .sanddune elsewhere; ln -sfn /tmp .sanddune/runs",
        `echo evil > ${outside}/x`,
      ),
    ]);
    expect(readFileSync(join(cwd, ".sanddune/prompt.md"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(cwd, ".sanddune/.env"), "utf8")).toBe("TOKEN=s3cr3t\n");
    expect(readFileSync(join(cwd, "seen.txt"), "utf8")).not.toContain("s3cr3t");
    expect(existsSync(join(outside, "x"))).toBe(false);
  });
});
