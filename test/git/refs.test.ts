import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import {
  isAncestor,
  isDetached,
  lockProblem,
  type RefUpdate,
  resolveCommit,
  updateRefs,
} from "../../src/git/refs.ts";
import { keptRefFor, newExportRefs, OWN_EXPORT_REFS, runOfRef } from "../../src/git/runRefs.ts";
import { git, temporaryDirectory, temporaryRepository } from "../helpers/repository/repository.ts";
import { commitFiles } from "./commitFiles.ts";

const scene = () => {
  const cwd = temporaryRepository();
  const one = git(cwd, "rev-parse", "HEAD");
  return {
    cwd,
    one,
    two: commitFiles(cwd, { "a.txt": "" }),
    update: (...updates: RefUpdate[]) => runAtBoundary(updateRefs(cwd, updates)),
    refs: () => git(cwd, "for-each-ref", "--format=%(refname) %(objectname)").split("\n"),
  };
};

describe("a name", () => {
  it("stands for a commit, also by way of a tag", async () => {
    const { cwd, two } = scene();
    git(cwd, "tag", "-a", "-m", "Tag", "tagged");
    for (const name of ["main", "HEAD", "tagged", two, two.slice(0, 8)])
      expect(await runAtBoundary(resolveCommit(cwd, name))).toBe(two);
  });

  it.each(["missing", "--help", "HEAD:a.txt", "HEAD^{tree}", "", "1".repeat(40)])(
    "stands for no commit: %j",
    async (name) => {
      expect(await runAtBoundary(resolveCommit(scene().cwd, name))).toBeUndefined();
    },
  );

  it("stands for no commit where there is none yet", async () => {
    const cwd = temporaryDirectory();
    git(cwd, "init", "--quiet");
    expect(await runAtBoundary(resolveCommit(cwd, "HEAD"))).toBeUndefined();
    expect(await runAtBoundary(isDetached(cwd))).toBe(false);
  });
});

describe("refs", () => {
  it("are created, moved and deleted together", async () => {
    const { one, two, update, refs } = scene();
    await update({ ref: "refs/heads/a", to: one, from: "absent" }, { ref: "refs/heads/b", to: one });
    await update(
      { ref: "refs/heads/a", to: two, from: one },
      { ref: "refs/heads/b", to: undefined, from: one },
    );
    expect(refs()).toEqual([`refs/heads/a ${two}`, `refs/heads/main ${two}`]);
    await update();
  });

  it.each<[string, (one: string, two: string) => RefUpdate]>([
    ["is not where it should be", (one) => ({ ref: "refs/heads/main", to: one, from: one })],
    ["should not exist", (one) => ({ ref: "refs/heads/main", to: one, from: "absent" })],
    ["is to be deleted, but is elsewhere", (one) => ({ ref: "refs/heads/main", to: undefined, from: one })],
    ["would be pointed to a missing object", () => ({ ref: "refs/heads/x", to: "1".repeat(40) })],
    ["is called what another one's directory is called", (one) => ({ ref: "refs/heads/main/x", to: one })],
  ])("do not change if one of them %s", async (_, wrong) => {
    const { one, two, update, refs } = scene();
    const before = refs();
    await expect(update({ ref: "refs/heads/fine", to: two }, wrong(one, two))).rejects.toThrow();
    expect(refs()).toEqual(before);
  });

  it("that are locked fail with a problem that names the lock", async () => {
    const { cwd, one, update } = scene();
    writeFileSync(join(cwd, ".git/refs/heads/main.lock"), "");
    const error = await update({ ref: "refs/heads/main", to: one }).catch(String);
    expect(lockProblem(String(error))).toContain(`${cwd}/.git/refs/heads/main.lock exists`);
    expect(lockProblem("fatal: something else")).toBeUndefined();
  });

  it("are changed themselves: the branch that HEAD points to is not moved in its place", async () => {
    const { cwd, one, two, update } = scene();
    expect(await runAtBoundary(isDetached(cwd))).toBe(false);
    await update({ ref: "HEAD", to: one, from: two });
    expect(git(cwd, "rev-parse", "HEAD", "main")).toBe(`${one}\n${two}`);
    expect(await runAtBoundary(isDetached(cwd))).toBe(true);
  });
});

it("a commit is an ancestor of itself and of what builds on it", async () => {
  const { cwd, one, two } = scene();
  const asked = [
    [one, two],
    [one, one],
    [two, one],
  ] as const;
  const answers = await Promise.all(asked.map(([a, b]) => runAtBoundary(isAncestor(cwd, a, b))));
  expect(answers).toEqual([true, true, false]);
});

describe("the ref that keeps an agent's ref", () => {
  const runId = "20300102-030405-abcdef";

  it.each([
    "refs/heads/a",
    "refs/heads/a/b",
    `refs/heads/${"x".repeat(200)}`,
    "refs/tags/ä\n.lock",
    "HEAD",
    "worktrees/w/HEAD",
  ])("is one that git accepts: %j", (name) => {
    const ref = keptRefFor(runId, name);
    expect(git(temporaryRepository(), "check-ref-format", ref)).toBe("");
    expect(ref).toMatch(/^refs\/sanddune\/runs\/20300102-030405-abcdef\/[A-Za-z0-9-]{1,60}$/);
    expect(runOfRef(ref)).toBe(runId);
  });

  it("is another one for each name, in which no name is in the way of another", () => {
    const names = ["refs/heads/a", "refs/heads/a/b", "refs/heads/a-b", "refs/tags/a", "refs/heads/A"];
    const refs = names.map((name) => keptRefFor(runId, name).toLowerCase());
    expect(new Set(refs).size).toBe(names.length);
  });

  it("is the same for a commit that two exports have named", () => {
    const [one, two] = [newExportRefs(), newExportRefs()];
    expect([one, two].every((prefix) => OWN_EXPORT_REFS.test(prefix))).toBe(true);
    expect(one).not.toBe(two);
    expect(keptRefFor(runId, `${one}left-1`)).toBe(keptRefFor(runId, `${two}left-1`));
  });
});
