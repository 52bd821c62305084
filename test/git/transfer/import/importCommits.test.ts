import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../../src/boundary/boundary.ts";
import type { SandboxExport } from "../../../../src/git/transfer/export/fetchBundles.ts";
import { type ImportTarget, importCommits } from "../../../../src/git/transfer/import/importCommits.ts";
import { BranchMovedError, ImportRefusedError } from "../../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../../helpers/repository/repository.ts";
import { commitFiles, statusOf } from "../../commitFiles.ts";

const runId = "20300102-030405-abcdef";
const TIP_REF = `refs/sanddune/runs/${runId}/tip`;

/** A repository with a branch `work`, and a clone of it in which an agent has committed. */
const scene = (...initOptions: string[]) => {
  const cwd = temporaryRepository(...initOptions);
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Second");
  git(cwd, "branch", "work");
  const base = git(cwd, "rev-parse", "work");
  const agent = join(temporaryDirectory(), "agent");
  cpSync(cwd, agent, { recursive: true });
  git(agent, "symbolic-ref", "HEAD", "refs/heads/work");
  const bundle = (...revisions: string[]): string => {
    const path = join(temporaryDirectory(), "bundle");
    git(agent, "bundle", "create", "--quiet", path, ...revisions);
    return path;
  };
  const tipOf = (name: string) =>
    git(
      cwd,
      "for-each-ref",
      "--format=%(objectname)",
      name.startsWith("refs/") ? name : `refs/heads/${name}`,
    );
  return {
    cwd,
    agent,
    base,
    bundle,
    tipOf,
    commit: (files: Readonly<Record<string, string>> = { "a.txt": "a\n" }) => commitFiles(agent, files),
    import: (exported: Partial<SandboxExport> = {}, target: Partial<ImportTarget> = {}) => {
      const tip = git(agent, "rev-parse", "HEAD");
      return runAtBoundary(
        importCommits(
          { cwd, runId, branch: "work", base, expectedTip: base, allowsRewrite: false, ...target },
          {
            tip,
            bundlePath: "bundlePath" in exported ? undefined : bundle("work", `^${base}`),
            checkpointsPath: undefined,
            uncommitted: undefined,
            leftBehind: [],
            ...exported,
          },
        ),
      );
    },
  };
};

const packsIn = (cwd: string): string[] =>
  readdirSync(join(cwd, ".git/objects/pack")).filter((name) => name.endsWith(".pack"));

describe("new commits", () => {
  it("are put on the branch, and no file is touched", async () => {
    const { cwd, commit, tipOf, ...here } = scene();
    const tip = commit();
    expect(await here.import()).toMatchObject({
      tip,
      uncommitted: undefined,
      heads: [tip],
      warnings: [],
      move: { commits: [{ sha: tip }], changes: { files: [{ path: "a.txt", from: undefined }] } },
    });
    expect(tipOf("work")).toBe(tip);
    expect(git(cwd, "reflog", "-1", "--format=%gs", "work")).toBe(`sanddune: run ${runId}`);
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(statusOf(cwd)).toBe("");
  });

  it("are imported into a repository with SHA-256 names", async () => {
    const { commit, tipOf, ...here } = scene("--object-format=sha256");
    const tip = commit();
    await here.import();
    expect(tipOf("work")).toBe(tip);
    expect(tip).toHaveLength(64);
  });

  it("follow those of an earlier import", async () => {
    const { commit, tipOf, base, bundle, ...here } = scene();
    const first = commit();
    await here.import();
    const second = commit({ "b.txt": "" });
    await here.import({ bundlePath: bundle("work", `^${first}`) }, { expectedTip: first });
    expect(tipOf("work")).toBe(second);
    expect(tipOf(`refs/sanddune/before/${runId}`)).toBe("");
    expect(base).not.toBe(first);
  });

  it("where there are none, nothing is written", async () => {
    const { cwd, tipOf, base, ...here } = scene();
    const result = await here.import({ bundlePath: undefined });
    expect(result).toEqual({ tip: base, uncommitted: undefined, heads: [], warnings: [] });
    expect([tipOf("work"), packsIn(cwd)]).toEqual([base, []]);
  });
});

describe("a branch that has moved on the host", () => {
  it("is left alone, and the commits are kept", async () => {
    const { cwd, commit, tipOf, ...here } = scene();
    git(cwd, "branch", "--force", "work", "main~");
    const tip = commit();
    const error = await here.import().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BranchMovedError);
    expect((error as BranchMovedError).message).toContain("changed on the host during the run");
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual([git(cwd, "rev-parse", "main~"), tip]);
  });

  it("because it was deleted is not made again", async () => {
    const { cwd, commit, tipOf, ...here } = scene();
    git(cwd, "branch", "--quiet", "-D", "work");
    const tip = commit();
    await expect(here.import()).rejects.toBeInstanceOf(BranchMovedError);
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual(["", tip]);
  });

  it("is not said to have moved if git has left a lock on it", async () => {
    const { cwd, commit, tipOf, base, ...here } = scene();
    const tip = commit();
    writeFileSync(join(cwd, ".git/refs/heads/work.lock"), "");
    await expect(here.import()).rejects.toThrow("refs/heads/work.lock exists: another git is running");
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual([base, tip]);
  });
});

describe("history that the agent has rewritten", () => {
  const rewritten = () => {
    const here = scene();
    git(here.agent, "commit", "--quiet", "--allow-empty", "--amend", "-m", "Amended");
    return {
      ...here,
      tip: git(here.agent, "rev-parse", "HEAD"),
      bundlePath: here.bundle("work", `^${here.base}`),
    };
  };

  it("replaces the branch where that is allowed, whose former tip is kept", async () => {
    const { tip, tipOf, base, bundlePath, ...here } = rewritten();
    const { warnings } = await here.import({ bundlePath }, { allowsRewrite: true });
    expect(warnings).toEqual([
      `The agent rewrote the history of work. Its former tip is kept as refs/sanddune/before/${runId} (${base}).`,
    ]);
    expect([tipOf("work"), tipOf(`refs/sanddune/before/${runId}`)]).toEqual([tip, base]);
  });

  it("is kept beside the branch where that is not allowed", async () => {
    const { tip, tipOf, base, bundlePath, ...here } = rewritten();
    await expect(here.import({ bundlePath })).rejects.toThrow(
      "would lose commits that it had before the run",
    );
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual([base, tip]);
  });

  it("of its own earlier commits may always be rewritten", async () => {
    const { agent, commit, tipOf, base, bundle, ...here } = scene();
    const first = commit();
    await here.import();
    git(agent, "commit", "--quiet", "--allow-empty", "--amend", "-m", "Amended");
    const tip = git(agent, "rev-parse", "HEAD");
    const { warnings } = await here.import(
      { bundlePath: bundle("work", `^${base}`) },
      { expectedTip: first },
    );
    expect([tipOf("work"), warnings]).toEqual([tip, []]);
  });

  it("that has nothing in common with the base is refused, and kept", async () => {
    const { agent, tipOf, base, bundle, cwd, ...here } = scene();
    git(cwd, "branch", "unrelated", git(cwd, "commit-tree", "-m", "Root", "HEAD^{tree}"));
    git(agent, "fetch", "--quiet", cwd, "unrelated:unrelated");
    git(agent, "reset", "--quiet", "--hard", "unrelated");
    const tip = commitFiles(agent, { "a.txt": "" });
    const bundlePath = bundle("work", "^unrelated");
    const refused = here.import({ bundlePath }, { allowsRewrite: true });
    await expect(refused).rejects.toThrow("no history in common");
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual([base, tip]);
  });
});

describe("a detached HEAD", () => {
  const branch = undefined;

  it("is moved, and no branch with it", async () => {
    const { cwd, agent, base, bundle, commit, ...here } = scene();
    git(cwd, "switch", "--quiet", "--detach", "work");
    git(agent, "switch", "--quiet", "--detach");
    const tip = commit();
    await here.import({ bundlePath: bundle("HEAD", `^${base}`) }, { branch });
    expect(git(cwd, "rev-parse", "HEAD", "main", "work").split("\n")).toEqual([tip, base, base]);
    expect(git(cwd, "branch", "--show-current")).toBe("");
  });

  it("that was switched to a branch meanwhile is left alone: the branch would move", async () => {
    const { cwd, agent, base, bundle, commit, tipOf, ...here } = scene();
    git(agent, "switch", "--quiet", "--detach");
    const tip = commit();
    const refused = here.import({ bundlePath: bundle("HEAD", `^${base}`) }, { branch });
    await expect(refused).rejects.toThrow("was switched to a branch during the run");
    expect([git(cwd, "rev-parse", "HEAD"), tipOf(TIP_REF)]).toEqual([base, tip]);
  });
});

describe("what the sandbox says of its branch", () => {
  it("that it was renamed leaves the branch alone, and the commits are kept", async () => {
    const { agent, base, bundle, commit, tipOf, ...here } = scene();
    git(agent, "branch", "--move", "renamed");
    const tip = commit();
    const bundlePath = bundle("renamed", `^${base}`);
    const { warnings } = await here.import({ tip: undefined, source: "renamed", bundlePath });
    expect(warnings[0]).toContain("The agent renamed or deleted the branch work in the sandbox");
    expect(warnings[1]).toContain('committed to "renamed"');
    expect(tipOf("work")).toBe(base);
    expect(tipOf(`refs/sanddune/runs/${runId}`)).toBe(tip);
  });

  it("that it is broken is refused, and other branches are kept nevertheless", async () => {
    const { agent, base, bundle, commit, tipOf, ...here } = scene();
    git(agent, "switch", "--quiet", "--create", "other");
    const other = commit();
    const bundlePath = bundle("other", `^${base}`);
    const refused = here.import({ tip: undefined, source: "broken", bundlePath });
    await expect(refused).rejects.toThrow("refs/heads/work in the sandbox does not point to");
    expect(tipOf(`refs/sanddune/runs/${runId}`)).toBe(other);
  });

  it("is not believed where it names a commit that it does not send", async () => {
    const { base, tipOf, ...here } = scene();
    const refused = here.import({ tip: "1".repeat(40), bundlePath: undefined });
    await expect(refused).rejects.toBeInstanceOf(ImportRefusedError);
    expect(tipOf("work")).toBe(base);
  });
});

describe("uncommitted work", () => {
  it("is kept by a ref, and is not on the branch", async () => {
    const { agent, base, bundle, tipOf, ...here } = scene();
    const tip = git(agent, "rev-parse", "HEAD");
    commitFiles(agent, { "a.txt": "not committed\n" });
    git(agent, "update-ref", "refs/sanddune/uncommitted", "HEAD");
    const uncommitted = git(agent, "rev-parse", "HEAD");
    git(agent, "reset", "--quiet", "--hard", base);
    const bundlePath = bundle("refs/sanddune/uncommitted", `^${base}`);
    const imported = await here.import({ tip, uncommitted, bundlePath });
    expect(imported).toEqual({ tip, uncommitted, heads: [], warnings: [] });
    expect([tipOf("work"), tipOf(`refs/sanddune/runs/${runId}/uncommitted`)]).toEqual([base, uncommitted]);
  });

  it("that was not sent is refused", async () => {
    const refused = scene().import({ uncommitted: "1".repeat(40), bundlePath: undefined });
    await expect(refused).rejects.toThrow("names a commit that it did not");
  });
});

describe("files that sanddune keeps for itself", () => {
  it.each([
    [".sanddune/worktrees/x/.keep"],
    [".sanddune/runs/x"],
    [".sanddune/.env"],
    [".SANDDUNE/config.json", ".SANDDUNE"],
    [".sand\u200ddune/x", ".sand\u200ddune"],
    [".sanddune"],
  ])("are not changed by commits: %j", async (path, named = path) => {
    const { commit, tipOf, base, ...here } = scene();
    const tip = commit({ [path]: "" });
    await expect(here.import()).rejects.toThrow(`they change ${JSON.stringify(named)}`);
    expect([tipOf("work"), tipOf(TIP_REF)]).toEqual([base, tip]);
  });

  it("do not include the files of the config directory that users commit", async () => {
    const { commit, tipOf, ...here } = scene();
    const tip = commit({ ".sanddune/config.json": "{}\n", "sub/.sanddune/runs/x": "" });
    await here.import();
    expect(tipOf("work")).toBe(tip);
  });
});

describe("a bundle", () => {
  it.each<[string, (path: string) => void]>([
    ["is empty", (path) => writeFileSync(path, "")],
    ["is something else", (path) => writeFileSync(path, "# v2 git bundle\n\nPUCK")],
    ["breaks off", (path) => truncateSync(path, statSync(path).size - 30)],
    [
      "has a damaged object",
      (path) => {
        const bytes = readFileSync(path);
        bytes[bytes.length - 30] = (bytes[bytes.length - 30] ?? 0) ^ 0xff;
        writeFileSync(path, bytes);
      },
    ],
  ])("that %s is refused, and nothing is stored", async (_, damage) => {
    const { cwd, base, bundle, commit, tipOf, ...here } = scene();
    const tip = commit();
    const bundlePath = bundle("work", `^${base}`);
    damage(bundlePath);
    await expect(here.import({ bundlePath })).rejects.toBeInstanceOf(ImportRefusedError);
    expect(tipOf("work")).toBe(base);
    expect(packsIn(cwd)).toEqual([]);
    expect(() => git(cwd, "cat-file", "-e", tip)).toThrow();
  });

  it("whose commits build on nothing of this repository is refused", async () => {
    const { cwd, bundle, commit, ...here } = scene();
    commit();
    await expect(here.import({ bundlePath: bundle("work") })).rejects.toThrow(
      "they do not build on any commit of this repository",
    );
    expect(packsIn(cwd)).toEqual([]);
  });

  it("with a tree that git finds unsound is refused", async () => {
    const { agent, base, bundle, tipOf, ...here } = scene();
    const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], { cwd: agent, input: "" });
    const tree = execFileSync("git", ["mktree"], {
      cwd: agent,
      input: `100644 blob ${blob.toString().trim()}\t.git\n`,
    });
    const tip = git(agent, "commit-tree", "-p", base, "-m", "Unsound", tree.toString().trim());
    git(agent, "update-ref", "refs/heads/work", tip);
    await expect(here.import({ tip, bundlePath: bundle("work", `^${base}`) })).rejects.toThrow("unsound");
    expect(tipOf("work")).toBe(base);
  });
});

describe("checkpoints", () => {
  /** Two checkpoints behind one another, as a sandbox packs them. */
  const withCheckpoints = () => {
    const here = scene();
    const { agent, base } = here;
    const one = git(agent, "commit-tree", "-p", base, "-m", "Checkpoint 1", "HEAD^{tree}");
    const two = git(agent, "commit-tree", "-p", one, "-m", "Checkpoint 2", "HEAD^{tree}");
    git(agent, "update-ref", "refs/sanddune/checkpoint", two);
    const checkpointsPath = here.bundle("refs/sanddune/checkpoint", `^${base}`);
    const refOf = (number: number) => here.tipOf(`refs/sanddune/${runId}/checkpoints/${number}`);
    return { ...here, one, two, checkpointsPath, refOf };
  };

  it("that the host has heard of get refs of the run's", async () => {
    const { one, two, checkpointsPath, refOf, base, ...here } = withCheckpoints();
    const checkpoints = [
      { number: 1, sha: one },
      { number: 4, sha: two },
    ];
    const { heads, warnings } = await here.import(
      { bundlePath: undefined, checkpointsPath },
      { checkpoints },
    );
    expect([refOf(1), refOf(4)]).toEqual([one, two]);
    expect([heads, warnings]).toEqual([[two], []]);
  });

  it("that the sandbox has replaced are reported as lost, and the commits arrive", async () => {
    const { commit, checkpointsPath, refOf, tipOf, ...here } = withCheckpoints();
    const tip = commit();
    const checkpoints = [{ number: 1, sha: "1".repeat(40) }];
    const { warnings } = await here.import({ checkpointsPath }, { checkpoints });
    expect(warnings.join()).toContain("1 of 1 checkpoints were not imported");
    expect([tipOf("work"), refOf(1)]).toEqual([tip, ""]);
  });

  it("in a damaged bundle do not keep the commits from arriving", async () => {
    const { commit, two, checkpointsPath, tipOf, ...here } = withCheckpoints();
    const tip = commit();
    writeFileSync(checkpointsPath, "nothing");
    const { warnings } = await here.import({ checkpointsPath }, { checkpoints: [{ number: 1, sha: two }] });
    expect(warnings).toEqual(["The checkpoints could not be kept: the bundle is malformed."]);
    expect(tipOf("work")).toBe(tip);
  });
});
