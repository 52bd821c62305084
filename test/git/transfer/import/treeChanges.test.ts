import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { expect, test } from "vitest";
import { diffTree } from "../../../../src/git/diffTree.ts";
import { inspectChanges } from "../../../../src/git/runChanges.ts";
import { compareBoundedTrees } from "../../../../src/git/transfer/import/measureTrees.ts";
import { git, temporaryRepository } from "../../../helpers/repository/repository.ts";

const write = (cwd: string, path: string | Buffer, content = `${path}\n`): void => {
  if (typeof path === "string") mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(typeof path === "string" ? join(cwd, path) : path, content);
};

const commitAll = (cwd: string): string => {
  git(cwd, "add", "--all");
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", "Change");
  return git(cwd, "rev-parse", "HEAD");
};

const compare = (cwd: string, from: string, to: string) =>
  Effect.runPromise(compareBoundedTrees(cwd, { from, to }, undefined));

test.each(["sha1", "sha256"])("lists what git lists, in git's order: %s", async (format) => {
  const cwd = temporaryRepository(`--object-format=${format}`);
  for (const path of ["a/x", "a.b", "a-b/c/d", "same/e", "gone/f/g", "mode", "file", "directory/h"])
    write(cwd, path);
  symlinkSync("README.md", join(cwd, "link"));
  const from = commitAll(cwd);
  write(cwd, "a.b", "changed\n");
  write(cwd, "a/y");
  write(cwd, "a0");
  for (const path of ["gone", "file", "directory", "link"]) rmSync(join(cwd, path), { recursive: true });
  write(cwd, "file/in/it");
  write(cwd, "directory");
  chmodSync(join(cwd, "mode"), 0o755);
  symlinkSync("/etc/passwd", join(cwd, "link"));
  write(cwd, Buffer.concat([Buffer.from(`${cwd}/odd-`), Buffer.from([0xff, 0x0a])]));
  git(cwd, "add", "--all");
  git(cwd, "update-index", "--add", "--cacheinfo", `160000,${from},module`);
  git(cwd, "commit", "--quiet", "-m", "Change");
  const to = git(cwd, "rev-parse", "HEAD");
  const { files, topNames, linkTargets } = await compare(cwd, from, to);
  expect(files).toEqual(await Effect.runPromise(diffTree({ cwd }, from, to)));
  expect(files.length).toBeGreaterThan(10);
  const atTop = git(cwd, "diff-tree", "-z", "--name-only", "--no-renames", from, to).split("\0");
  expect(topNames).toEqual([...new Set(atTop.filter((name) => name !== ""))]);
  expect([...linkTargets]).toEqual([["link", "/etc/passwd"]]);
});

const hash = (cwd: string, type: string, input: Buffer | string): string =>
  execFileSync("git", ["hash-object", "-t", type, "-w", "--stdin", "--literally"], {
    cwd,
    input,
    encoding: "utf8",
  }).trim();

const treeOf = (cwd: string, entries: readonly (readonly [mode: string, name: string, object: string])[]) => {
  const bytes = entries.map(([mode, name, object]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, "hex")]),
  );
  return hash(cwd, "tree", Buffer.concat(bytes));
};

test.each([
  ["120777", "link"],
  ["160755", "submodule"],
  ["110644", "submodule"],
  ["40755", "directory"],
  ["1040000", "directory"],
  ["100664", "file"],
  ["100744", "file"],
] as const)("an entry of mode %s is a %s, as for git", async (mode, kind) => {
  const cwd = temporaryRepository();
  const from = git(cwd, "rev-parse", "HEAD");
  const blob = hash(cwd, "blob", "/etc");
  const directory = treeOf(cwd, [["40000", ".claude", treeOf(cwd, [["100644", "settings.json", blob]])]]);
  const object = { link: blob, submodule: from, directory, file: blob }[kind];
  const to = git(cwd, "commit-tree", "-p", from, "-m", "x", treeOf(cwd, [[mode, "x", object]]));
  const compared = await compare(cwd, from, to);
  expect(compared.files).toEqual(await Effect.runPromise(diffTree({ cwd }, from, to)));
  const read = await Effect.runPromise(inspectChanges(cwd, from, to, [], compared));
  expect(read).toEqual(await Effect.runPromise(inspectChanges(cwd, from, to)));
  expect(read.protectedPaths.length).toBe(kind === "file" ? 0 : 1);
});

test.each(["40000", "40755"])("directories of mode %s count for the limits", async (mode) => {
  const cwd = temporaryRepository();
  const from = git(cwd, "rev-parse", "HEAD");
  const blob = hash(cwd, "blob", "x");
  const names = Array.from({ length: 50 }, (_, index) => String(index).padStart(3, "0"));
  let tree = treeOf(
    cwd,
    names.map((name) => ["100644", name, blob]),
  );
  for (let depth = 0; depth < 6; depth++) {
    const inner = tree;
    tree = treeOf(
      cwd,
      names.map((name) => [mode, name, inner]),
    );
  }
  const to = git(cwd, "commit-tree", "-p", from, "-m", "x", tree);
  await expect(compare(cwd, from, to)).rejects.toThrow(/more than \d+ files/);
});

test("the name of an empty directory is listed at the top, though it has no file", async () => {
  const cwd = temporaryRepository();
  const from = git(cwd, "rev-parse", "HEAD");
  const empty = git(cwd, "hash-object", "-t", "tree", "-w", "/dev/null");
  const script = `{ git ls-tree HEAD; printf '040000 tree ${empty}\\tEMPTY\\n'; } | git mktree`;
  const tree = git(cwd, "-c", `alias.tree=!${script}`, "tree");
  const to = git(cwd, "commit-tree", "-p", from, "-m", "Empty", tree);
  expect(await compare(cwd, from, to)).toMatchObject({ files: [], topNames: ["EMPTY"] });
});

test("no link is read whose target is longer than a path: many of them would fill the memory", async () => {
  const cwd = temporaryRepository();
  const from = git(cwd, "rev-parse", "HEAD");
  for (const [path, target] of Object.entries({ long: "a/".repeat(2500), short: "a/".repeat(1000) })) {
    write(cwd, "target", target);
    const blob = git(cwd, "hash-object", "-w", "target");
    git(cwd, "update-index", "--add", "--cacheinfo", `120000,${blob},${path}`);
  }
  git(cwd, "commit", "--quiet", "-m", "Links");
  const to = git(cwd, "rev-parse", "HEAD");
  const { linkTargets } = await compare(cwd, from, to);
  expect([...linkTargets.keys()]).toEqual(["short"]);
  const { protectedPaths } = await Effect.runPromise(inspectChanges(cwd, from, to));
  expect(protectedPaths).toEqual(["long"]);
});
