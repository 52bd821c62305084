import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../src/boundary/boundary.ts";
import { inspectChanges, listRunCommits } from "../../src/git/runChanges.ts";
import { git, temporaryRepository } from "../helpers/repository/repository.ts";
import { commitFiles } from "./commitFiles.ts";

describe("the commits of a run", () => {
  it("are those that the host did not know, oldest first, with those that were merged", async () => {
    const cwd = temporaryRepository();
    const base = git(cwd, "rev-parse", "HEAD");
    const one = commitFiles(cwd, { one: "" });
    git(cwd, "switch", "--quiet", "--create", "side", base);
    const side = commitFiles(cwd, { side: "" });
    git(cwd, "switch", "--quiet", "main");
    git(cwd, "merge", "--quiet", "--no-edit", "side");
    const merge = git(cwd, "rev-parse", "HEAD");
    const commits = await runAtBoundary(listRunCommits(cwd, merge, [base]));
    expect(commits.at(-1)).toBe(merge);
    expect(commits.slice(0, -1).sort()).toEqual([one, side].sort());
    expect(await runAtBoundary(listRunCommits(cwd, merge, [base, side]))).toEqual([one, merge]);
  });

  it("are found although the host has lost commits that it knew", async () => {
    const cwd = temporaryRepository();
    const base = git(cwd, "rev-parse", "HEAD");
    const tip = commitFiles(cwd, { one: "" });
    expect(await runAtBoundary(listRunCommits(cwd, tip, [base, "1".repeat(40)]))).toEqual([tip]);
    expect(await runAtBoundary(listRunCommits(cwd, base, [base]))).toEqual([]);
  });
});

describe("what a person should look at", () => {
  const changes = async (change: (cwd: string) => void, gradingPaths: readonly string[] = []) => {
    const cwd = temporaryRepository();
    const base = git(cwd, "rev-parse", "HEAD");
    change(cwd);
    return runAtBoundary(inspectChanges(cwd, base, commitFiles(cwd, {}), gradingPaths));
  };
  const link = (target: string, path: string) => (cwd: string) => symlinkSync(target, join(cwd, path));

  it("is nothing in plain files, whatever their names", async () => {
    const found = await changes((cwd) => void commitFiles(cwd, { "ä\n": "", "package.json.txt": "" }));
    expect(found).toEqual({ protectedPaths: [], newSubmodules: [] });
  });

  it.each([
    ["/etc/passwd", "link"],
    ["../outside", "link"],
    [".git/config", "link"],
    ["somewhere", ".husky"],
  ])("is a link to %s at %s", async (target, path) => {
    expect((await changes(link(target, path))).protectedPaths).toEqual([path]);
  });

  it("is no link within the repository", async () => {
    expect((await changes(link("README.md", "link"))).protectedPaths).toEqual([]);
  });

  it("is every link where there are too many to be read", async () => {
    const names = Array.from({ length: 101 }, (_, number) => `link-${number}`);
    const { protectedPaths } = await changes((cwd) => {
      for (const name of names) link("README.md", name)(cwd);
    });
    expect([...protectedPaths].sort()).toEqual(names.sort());
  });

  it("is a new submodule, which is named as one", async () => {
    const found = await changes((cwd) => {
      git(
        cwd,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        temporaryRepository(),
        "lib",
      );
    });
    expect(found).toEqual({ protectedPaths: [".gitmodules", "lib"], newSubmodules: ["lib"] });
  });

  it("is what grades an agent's work, under any case", async () => {
    const files = { "Grading/a.txt": "", "grading-notes.txt": "" };
    const { protectedPaths } = await changes((cwd) => void commitFiles(cwd, files), ["grading"]);
    expect(protectedPaths).toEqual(["Grading/a.txt"]);
  });

  it("is a directory that has become a bare repository", async () => {
    const files = { "sub/HEAD": "ref: refs/heads/x\n", "sub/objects/x": "", "sub/refs/x": "" };
    expect((await changes((cwd) => void commitFiles(cwd, files))).protectedPaths).toEqual(["sub"]);
  });
});
