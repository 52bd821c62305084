import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { type RecoveredCommits, recoverCommits } from "../../../src/git/recovery/recoverCommits.ts";
import { openRepository } from "../../../src/git/repository.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const RUN_ID = "20300102-030405-abcdef";

interface Scene {
  readonly cwd: string;
  /** What the agent had for a git directory, with the host's objects behind it. */
  readonly gitDirectory: string;
  /** Runs git as the agent did in its sandbox. */
  readonly agent: (...args: string[]) => string;
  readonly recover: (changes?: {
    importedCommits?: string[];
    allowsRewrite?: boolean;
  }) => Promise<RecoveredCommits>;
}

/** A repository with a branch `b`, and a git directory as sandboxes have it, in which an agent works. */
const scene = (...initOptions: string[]): Scene => {
  const cwd = temporaryRepository(...initOptions);
  git(cwd, "branch", "b");
  const base = git(cwd, "rev-parse", "b");
  const files = temporaryDirectory();
  const work = join(temporaryDirectory(), "work");
  const gitDirectory = join(files, "git");
  git(cwd, "clone", "--quiet", "--shared", "--branch", "b", "--separate-git-dir", gitDirectory, cwd, work);
  const agent = (...args: string[]) =>
    git(work, "-c", "user.name=Agent", "-c", "user.email=agent@example.com", ...args);
  return {
    cwd,
    gitDirectory,
    agent,
    recover: async (changes = {}) =>
      Effect.runPromise(
        Effect.flatMap(openRepository(cwd), (repository) =>
          recoverCommits({
            repository,
            path: gitDirectory,
            runId: RUN_ID,
            branch: "b",
            base,
            checkoutPath: cwd,
            importedCommits: [],
            allowsRewrite: true,
            filesDirectory: files,
            ...changes,
          }),
        ),
      ),
  };
};

const commit = ({ agent }: Scene, subject: string): string => {
  agent("commit", "--quiet", "--allow-empty", "-m", subject);
  return agent("rev-parse", "HEAD");
};

const subjects = (cwd: string, ref: string): string[] => git(cwd, "log", "--format=%s", ref).split("\n");
/** Everything that some ref of the host leads to. */
const reachable = (cwd: string): string[] => git(cwd, "rev-list", "--all").split("\n");

describe.each([["sha1"], ["sha256"]])("commits of a sandbox that is gone (%s)", (format) => {
  it("are imported onto the branch, loose or packed, and a second time nothing is left to do", async () => {
    const here = scene(`--object-format=${format}`);
    commit(here, "One");
    here.agent("gc", "--quiet", "--prune=now");
    commit(here, "Two");
    const { before, tip, warnings, problem } = await here.recover();
    expect(subjects(here.cwd, "b")).toEqual(["Two", "One", "Initial commit"]);
    expect([tip, warnings, problem]).toEqual([git(here.cwd, "rev-parse", "b"), [], undefined]);
    expect(before).toBe(git(here.cwd, "rev-parse", "main"));
    git(here.cwd, "fsck", "--strict");

    expect(await here.recover()).toEqual({ before: tip, tip, warnings: [], problem: undefined });
    expect(readdirSync(join(here.gitDirectory, "..")).filter((name) => name !== "git")).toEqual([]);
  });
});

it("what is on no branch is kept by refs of the run: tags, other refs, a worktree's HEAD, every stash", async () => {
  const here = scene();
  const { agent, cwd } = here;
  const lost: string[] = [];
  const elsewhere = (name: string) => {
    agent("switch", "--quiet", "--detach", "b");
    lost.push(commit(here, name));
  };
  elsewhere("tagged");
  agent("tag", "light");
  elsewhere("annotated");
  agent("tag", "-a", "-m", "t", "annotated");
  elsewhere("other ref");
  agent("update-ref", "refs/odd/place", "HEAD");
  elsewhere("replaced");
  agent("update-ref", "refs/replace/place", "HEAD");
  agent("switch", "--quiet", "b");
  agent("worktree", "add", "--quiet", "--detach", join(temporaryDirectory(), "linked"));
  const linked = readdirSync(join(here.gitDirectory, "worktrees"))[0] as string;
  const tree = agent("rev-parse", "HEAD^{tree}");
  const inLinked = agent("commit-tree", "-p", "HEAD", "-m", "in a linked worktree", tree);
  writeFileSync(join(here.gitDirectory, "worktrees", linked, "HEAD"), `${inLinked}\n`);
  for (let number = 0; number < 12; number++) {
    const stashed = agent("commit-tree", "-p", "HEAD", "-m", `stash ${number}`, tree);
    agent("stash", "store", stashed);
    lost.push(stashed);
  }
  const { problem, warnings } = await here.recover();
  expect(problem).toBeUndefined();
  const held = reachable(cwd);
  expect([...lost, inLinked].filter((sha) => !held.includes(sha))).toEqual([]);
  expect(warnings.join("\n")).toContain("refs/sanddune/runs/");
  // Nothing of it is where the user's own refs are.
  expect(git(cwd, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags", "refs/replace")).toBe(
    "refs/heads/b\nrefs/heads/main",
  );
});

it("an annotated tag of a commit that the host has is kept, too", async () => {
  const here = scene();
  here.agent("tag", "-a", "-m", "Notes of the release", "v1");
  const tag = here.agent("rev-parse", "v1");
  const { problem, warnings } = await here.recover();
  expect(problem).toBeUndefined();
  expect(warnings.join()).toContain('"v1"');
  expect(git(here.cwd, "for-each-ref", "--format=%(objectname)", "refs/sanddune")).toContain(tag);
  expect(await here.recover()).toMatchObject({ problem: undefined, warnings: [] });
});

it("tags of the host that stand for no commit are no problem", async () => {
  const here = scene();
  const tree = git(here.cwd, "rev-parse", "b^{tree}");
  git(here.cwd, "tag", "tree", tree);
  here.agent("tag", "tree", tree);
  commit(here, "Work");
  expect(await here.recover()).toMatchObject({ problem: undefined, warnings: [] });
});

it("a commit of the agent that was not imported is reported", async () => {
  const here = scene();
  const commands = Array.from(
    { length: 60 },
    (_, number) =>
      `commit refs/heads/more-${number}\ncommitter A <a@b> ${number} +0000\ndata 1\nx\nfrom refs/heads/b\n`,
  );
  execFileSync("git", ["--git-dir", here.gitDirectory, "fast-import", "--quiet"], {
    input: commands.join(""),
  });
  const objects = here.agent("for-each-ref", "--format=%(objectname)", "refs/heads/more-*").split("\n");
  expect(objects).toHaveLength(60);
  const { problem } = await here.recover();
  const held = reachable(here.cwd);
  expect(problem === undefined).toBe(objects.every((object) => held.includes(object)));
});

it("names that git would refuse, or that stand in each other's way, lose nothing", async () => {
  const here = scene();
  const tree = here.agent("rev-parse", "HEAD^{tree}");
  const objects = ["a..b", "a", "a/b", "$(touch x)", "-x", "HEAD.lock2", "é"].map((name) => {
    const object = here.agent("commit-tree", "-p", "HEAD", "-m", name, tree);
    const path = join(here.gitDirectory, "refs/heads", name === "a" ? "../tags/a" : name);
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, `${object}\n`);
    return object;
  });
  const packed = here.agent("commit-tree", "-p", "HEAD", "-m", "packed parent", tree);
  writeFileSync(join(here.gitDirectory, "packed-refs"), `${packed} refs/heads/a\n`);
  expect((await here.recover()).problem).toBeUndefined();
  const held = reachable(here.cwd);
  expect([...objects, packed].filter((sha) => !held.includes(sha))).toEqual([]);
});

describe("a broken tip", () => {
  it.each([
    ["empty", ""],
    ["garbage", "\0\0\0"],
    ["of a commit that is missing", `${"1".repeat(40)}\n`],
  ])(
    "that is %s moves nothing, is said, and the commit that the log still names is kept",
    async (_, text) => {
      const here = scene();
      const lost = commit(here, "Lost");
      writeFileSync(join(here.gitDirectory, "refs/heads/b"), text);
      const { problem, tip, before } = await here.recover();
      expect(problem).toContain("refs/heads/b");
      expect(tip).toBe(before);
      expect(subjects(here.cwd, "b")).toEqual(["Initial commit"]);
      expect(reachable(here.cwd)).toContain(lost);
    },
  );

  it("whose objects are damaged is refused, and another branch does not suffer for it", async () => {
    const here = scene();
    here.agent("switch", "--quiet", "--create", "sound");
    const sound = commit(here, "Sound");
    here.agent("switch", "--quiet", "b");
    commit(here, "Parent");
    const parent = here.agent("rev-parse", "HEAD");
    commit(here, "Child");
    rmSync(join(here.gitDirectory, "objects", parent.slice(0, 2), parent.slice(2)));
    const { problem, tip } = await here.recover();
    expect(problem).toMatch(/missing or damaged/);
    expect(tip).toBeUndefined();
    expect(subjects(here.cwd, "b")).toEqual(["Initial commit"]);
    expect(existsSync(here.gitDirectory)).toBe(true);
    expect(sound).toMatch(/^[0-9a-f]{40}$/);
  });

  it("of another branch does not hold back the branch itself", async () => {
    const here = scene();
    here.agent("switch", "--quiet", "--create", "other");
    const parent = commit(here, "Parent");
    commit(here, "Child");
    rmSync(join(here.gitDirectory, "objects", parent.slice(0, 2), parent.slice(2)));
    here.agent("switch", "--quiet", "b");
    commit(here, "Good");
    const { problem } = await here.recover();
    expect(subjects(here.cwd, "b")).toEqual(["Good", "Initial commit"]);
    expect(problem).toContain("other refs");
  });
});

describe("a branch that is not where the run left it", () => {
  it("keeps what the user has put on it, and the commits are kept by a ref of the run", async () => {
    const here = scene();
    commit(here, "Of the agent");
    git(here.cwd, "switch", "--quiet", "b");
    git(here.cwd, "commit", "--quiet", "--allow-empty", "-m", "Of the user");
    const { warnings, problem, tip, before } = await here.recover();
    expect(subjects(here.cwd, "b")[0]).toBe("Of the user");
    expect(tip).toBe(before);
    expect(problem).toBeUndefined();
    expect(warnings.join()).toContain(`refs/sanddune/runs/${RUN_ID}/tip`);
    expect(subjects(here.cwd, `refs/sanddune/runs/${RUN_ID}/tip`)[0]).toBe("Of the agent");
  });

  it("is moved on from an import that the run could not write down, and replaced where the agent amended its own", async () => {
    const here = scene();
    const first = commit(here, "First");
    git(here.cwd, "fetch", "--quiet", here.gitDirectory, `${first}:refs/heads/b`);
    here.agent("commit", "--quiet", "--amend", "--allow-empty", "-m", "Amended");
    // Nobody knows who has put it there.
    expect((await here.recover()).warnings.join()).toContain("changed on the host");
    expect(subjects(here.cwd, "b")[0]).toBe("First");
    await here.recover({ importedCommits: [first] });
    expect(subjects(here.cwd, "b")).toEqual(["Amended", "Initial commit"]);
  });

  it("and has all of the commits already stays where it is", async () => {
    const here = scene();
    const first = commit(here, "First");
    git(here.cwd, "fetch", "--quiet", here.gitDirectory, `${first}:refs/heads/b`);
    git(here.cwd, "switch", "--quiet", "b");
    git(here.cwd, "commit", "--quiet", "--allow-empty", "-m", "On top");
    expect(await here.recover()).toMatchObject({ warnings: [], problem: undefined });
    expect(subjects(here.cwd, "b")).toEqual(["On top", "First", "Initial commit"]);
  });
});

describe("a hostile git directory", () => {
  it("runs nothing on the host: settings, hooks, filters, alternates, replaced objects and links are not looked at", async () => {
    const here = scene();
    const canary = join(temporaryDirectory(), "canary");
    const program = join(temporaryDirectory(), "program");
    writeFileSync(program, `#!/bin/sh\ntouch ${canary}\n`);
    chmodSync(program, 0o755);
    commit(here, "Work");
    for (const key of [
      "core.fsmonitor",
      "core.sshCommand",
      "core.pager",
      "gpg.program",
      "core.alternateRefsCommand",
    ])
      here.agent("config", key, program);
    here.agent("config", "uploadpack.packObjectsHook", program);
    mkdirSync(join(here.gitDirectory, "hooks"), { recursive: true });
    for (const hook of ["reference-transaction", "post-checkout", "pre-push"])
      symlinkSync(program, join(here.gitDirectory, "hooks", hook));
    const secret = temporaryRepository();
    writeFileSync(join(secret, "secret.txt"), "secret\n");
    git(secret, "add", ".");
    git(secret, "commit", "--quiet", "-m", "Secret");
    const secretCommit = git(secret, "rev-parse", "HEAD");
    writeFileSync(join(here.gitDirectory, "objects/info/alternates"), `${secret}/.git/objects\n`);
    writeFileSync(join(here.gitDirectory, "refs/heads/stolen"), `${secretCommit}\n`);
    symlinkSync(join(secret, ".git/refs/heads/main"), join(here.gitDirectory, "refs/heads/linked"));
    symlinkSync(join(secret, ".git/objects"), join(here.gitDirectory, "objects/ff"));
    execFileSync("mkfifo", [join(here.gitDirectory, "refs/heads/pipe")]);
    writeFileSync(join(here.gitDirectory, "commondir"), `${secret}/.git\n`);
    const { problem } = await here.recover();
    expect(subjects(here.cwd, "b")).toEqual(["Work", "Initial commit"]);
    expect(problem).toContain("stolen");
    expect(existsSync(canary)).toBe(false);
    expect(() => git(here.cwd, "cat-file", "-e", secretCommit)).toThrow();
  });

  it.each(["objects", "refs", "packed-refs", "HEAD"])(
    "whose %s is a link to elsewhere gives nothing of that away",
    async (name) => {
      const here = scene();
      commit(here, "Work");
      const secret = temporaryRepository();
      git(secret, "commit", "--quiet", "--allow-empty", "-m", "Secret");
      const path = join(here.gitDirectory, name);
      if (existsSync(path)) renameSync(path, `${path}.moved`);
      symlinkSync(join(secret, ".git", name), path);
      const { problem } = await here.recover();
      expect(problem).toBeDefined();
      expect(() => git(here.cwd, "cat-file", "-e", git(secret, "rev-parse", "HEAD"))).toThrow();
    },
  );

  /** Writes a loose object with that header, whatever it holds. */
  const writeLoose = ({ gitDirectory }: Scene, header: string, content = ""): string => {
    const object = createHash("sha1").update(`${header}\0${content}`).digest("hex");
    mkdirSync(join(gitDirectory, "objects", object.slice(0, 2)), { recursive: true });
    writeFileSync(
      join(gitDirectory, "objects", object.slice(0, 2), object.slice(2)),
      deflateSync(`${header}\0${content}`),
    );
    return object;
  };

  it.each([
    ["commit", 2 ** 40],
    ["blob", 2 ** 40],
    ["commit", 300 * 1024 ** 2],
    ["blob", 300 * 1024 ** 2],
  ])(
    "with a loose %s that says it has %d bytes is not unpacked, and the branch is imported",
    async (type, size) => {
      const here = scene();
      commit(here, "Work");
      const bomb = writeLoose(here, `${type} ${size}`);
      writeFileSync(join(here.gitDirectory, "refs/heads/bomb"), `${bomb}\n`);
      const { problem } = await here.recover();
      expect(subjects(here.cwd, "b")).toEqual(["Work", "Initial commit"]);
      expect(problem).toContain("limit objectBytes");
    },
  );

  it("with a tree that would write into .git is refused, and stays", async () => {
    const here = scene();
    const blob = here.agent("hash-object", "-w", "--stdin", "-t", "blob");
    const evil = execFileSync("git", ["--git-dir", here.gitDirectory, "mktree"], {
      input: `100644 blob ${blob}\t.git\n`,
      encoding: "utf8",
    }).trim();
    const object = here.agent("commit-tree", "-p", "HEAD", "-m", "Evil", evil);
    writeFileSync(join(here.gitDirectory, "refs/heads/b"), `${object}\n`);
    const { problem } = await here.recover();
    expect(problem).toBeDefined();
    expect(subjects(here.cwd, "b")).toEqual(["Initial commit"]);
    expect(() => git(here.cwd, "cat-file", "-e", object)).toThrow();
  });
});
