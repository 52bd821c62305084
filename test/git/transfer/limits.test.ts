// What an agent commits must not decide how much memory, time and disk git takes on the host.
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { measurePack } from "../../../src/git/transfer/bundle/measurePack.ts";
import { readBundle } from "../../../src/git/transfer/bundle/readBundle.ts";
import { importCommits } from "../../../src/git/transfer/import/importCommits.ts";
import { IMPORT_LIMITS, type ImportLimits } from "../../../src/git/transfer/limits.ts";
import { ImportRefusedError } from "../../../src/index.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";

const MEBIBYTE = 1024 * 1024;

/** A number, seven bits a byte. */
const size = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...size(Math.floor(value / 128))];

const entry = (type: number, length: number, base: Buffer, contents: Buffer): Buffer => {
  const first = (type << 4) | (length % 16);
  const header = length < 16 ? [first] : [first | 128, ...size(Math.floor(length / 16))];
  return Buffer.concat([Buffer.from(header), base, deflateSync(contents)]);
};

/** Says that it copies the first bytes of its base, up to 16 MB, so many times. */
const copies = (baseBytes: number, copiedBytes: number, times: number): Buffer => {
  const operation = [0b1111_0000, copiedBytes & 0xff, (copiedBytes >> 8) & 0xff, copiedBytes >> 16];
  return Buffer.from([
    ...size(baseBytes),
    ...size(copiedBytes * times),
    ...Array.from({ length: times }, () => operation).flat(),
  ]);
};

const nameOf = (contents: Buffer): Buffer =>
  createHash("sha1").update(`blob ${contents.length}\0`).update(contents).digest();

/** A bundle of few bytes: a small blob, a delta that makes 12 MiB of it, and one that repeats that so many times. */
const deltaBomb = (path: string, prerequisite: string, times: number): void => {
  const base = Buffer.alloc(64 * 1024);
  const large = Buffer.alloc(192 * base.length);
  const first = copies(base.length, base.length, 192);
  const second = copies(large.length, large.length, times);
  const entries = [
    entry(3, base.length, Buffer.alloc(0), base),
    entry(7, first.length, nameOf(base), first),
    entry(7, second.length, nameOf(large), second),
  ];
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const pack = Buffer.concat([header, ...entries]);
  const text = `# v2 git bundle\n-${prerequisite}\n${prerequisite} refs/heads/agent/work\n\n`;
  writeFileSync(path, Buffer.concat([Buffer.from(text), pack, createHash("sha1").update(pack).digest()]));
};

const bundleOf = (cwd: string, ...revisions: string[]): string => {
  const path = join(temporaryDirectory(), "bundle");
  git(cwd, "bundle", "create", "--quiet", path, ...revisions);
  return path;
};

/** A repository, and a copy of it in which an agent works. */
const scene = () => {
  const cwd = temporaryRepository();
  git(cwd, "branch", "agent/work");
  const agent = join(temporaryDirectory(), "agent");
  git(cwd, "clone", "--quiet", "--branch=agent/work", cwd, agent);
  git(agent, "config", "user.name", "Agent");
  git(agent, "config", "user.email", "agent@example.com");
  return { cwd, agent, base: git(cwd, "rev-parse", "main") };
};
type Scene = ReturnType<typeof scene>;

const importFrom = async ({ cwd, agent, base }: Scene, limits: Partial<ImportLimits> = {}) => {
  const bundlePath = bundleOf(agent, "agent/work", `^${base}`);
  const target = {
    ...{ cwd, runId: "20000101-000000-abcdef", branch: "agent/work", base, expectedTip: base },
    ...{ allowsRewrite: true, limits: { ...IMPORT_LIMITS, ...limits } },
  };
  const exported = {
    ...{ tip: git(agent, "rev-parse", "agent/work"), bundlePath },
    ...{ checkpointsPath: undefined, uncommitted: undefined, leftBehind: [] },
  };
  return runAtBoundary(importCommits(target, exported)).catch((error: unknown) => error);
};

/** Commits a tree that is made by a shell script which prints its name. */
const commitTree = ({ agent }: Scene, script: string): void => {
  const tree = execFileSync("sh", ["-c", script], { cwd: agent, encoding: "utf8" }).trim();
  git(
    agent,
    "update-ref",
    "refs/heads/agent/work",
    git(agent, "commit-tree", "-p", "HEAD", "-m", "Tree", tree),
  );
};

const expectRefused = (given: Scene, ended: unknown, limit: keyof ImportLimits): void => {
  expect(ended).toBeInstanceOf(ImportRefusedError);
  expect(ended).toMatchObject({ problem: expect.stringContaining(`the limit ${limit}`) });
  expect((ended as ImportRefusedError).bundlePath).toSatisfy(existsSync);
  expect(git(given.cwd, "rev-parse", "agent/work")).toBe(given.base);
};

describe("a pack", () => {
  it("is measured as git unpacks it, whatever the size of its objects", async () => {
    const cwd = temporaryRepository();
    const sizes = [0, 1, 15, 16, 2047, MEBIBYTE, MEBIBYTE + 1, 3 * MEBIBYTE];
    for (const bytes of sizes) {
      writeFileSync(join(cwd, `random-${bytes}`), randomBytes(bytes));
      writeFileSync(join(cwd, `zero-${bytes}`), Buffer.alloc(bytes));
    }
    writeFileSync(join(cwd, "text"), "line\n".repeat(100_000));
    git(cwd, "add", ".");
    git(cwd, "commit", "--quiet", "-m", "All sizes");
    writeFileSync(join(cwd, "text"), `${"line\n".repeat(100_000)}more\n`);
    git(cwd, "commit", "--quiet", "-am", "A delta");
    const lines = git(cwd, "cat-file", "--batch-all-objects", "--batch-check=%(objectsize)").split("\n");
    const bundle = readBundle(bundleOf(cwd, "HEAD"));
    expect(await measurePack(bundle, 20)).toEqual({
      objects: lines.length,
      unpackedBytes: lines.reduce((sum, line) => sum + Number(line), 0),
      mayHoldCommits: true,
    });
  });

  it("of few bytes that unpacks to hundreds of megabytes is refused before git sees it", async () => {
    const path = join(temporaryDirectory(), "bundle");
    deltaBomb(path, "1".repeat(40), 22);
    expect(statSync(path).size).toBeLessThan(2048);
    await expect(measurePack(readBundle(path), 20)).rejects.toThrow("the limit objectBytes");
  });

  it("of that form is what git takes for a sound pack: control", async () => {
    const cwd = temporaryRepository();
    const path = join(temporaryDirectory(), "bundle");
    deltaBomb(path, git(cwd, "rev-parse", "HEAD"), 2);
    const before = git(cwd, "count-objects", "-v");
    execFileSync("sh", ["-c", `sed '1,/^$/d' "$1" | git index-pack --stdin --strict`, "sh", path], {
      cwd,
      stdio: "ignore",
    });
    expect(git(cwd, "count-objects", "-v")).not.toBe(before);
  });

  it.each(["objectBytes", "unpackedBytes"] as const)("is refused by the limit %s", async (limit) => {
    const given = scene();
    writeFileSync(join(given.agent, "large"), Buffer.alloc(3 * MEBIBYTE));
    git(given.agent, "add", ".");
    git(given.agent, "commit", "--quiet", "-m", "Large");
    expectRefused(given, await importFrom(given, { [limit]: 2 * MEBIBYTE }), limit);
    expect(await importFrom(given, { [limit]: 4 * MEBIBYTE })).toMatchObject({ warnings: [] });
  });

  it("with more objects than are accepted is refused", async () => {
    const given = scene();
    git(given.agent, "commit", "--quiet", "--allow-empty", "-m", "One");
    git(given.agent, "commit", "--quiet", "--allow-empty", "-m", "Two");
    expectRefused(given, await importFrom(given, { objects: 1 }), "objects");
  });
});

describe("files of a commit", () => {
  it("that a few trees multiply without end are refused", async () => {
    const given = scene();
    // Twelve levels of ten directories each, which are all the same.
    const level = `tree=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\t%s\\n' $tree $n; done | git mktree)`;
    const leaf = `tree=$(printf '100644 blob %s\\tfile\\n' $(echo x | git hash-object -w --stdin) | git mktree)`;
    commitTree(given, [leaf, ...Array.from({ length: 12 }, () => level), "echo $tree"].join("\n"));
    expectRefused(given, await importFrom(given), "changedFiles");
  });

  it("that are only empty directories, multiplied without end, are refused", async () => {
    const given = scene();
    const level = `tree=$(for n in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\t%s\\n' $tree $n; done | git mktree)`;
    const leaf = "tree=$(git mktree </dev/null)";
    commitTree(given, [leaf, ...Array.from({ length: 12 }, () => level), "echo $tree"].join("\n"));
    expectRefused(given, await importFrom(given, { changedFiles: 1000 }), "changedFiles");
  });

  it("that repeat one large file are refused, although the pack is small", async () => {
    const given = scene();
    const many = `blob=$(head -c 1048576 /dev/zero | git hash-object -w --stdin)
for n in $(seq 20); do printf '100644 blob %s\\t%s\\n' $blob $n; done | git mktree`;
    commitTree(given, many);
    expectRefused(given, await importFrom(given, { changedBytes: 10 * MEBIBYTE }), "changedBytes");
  });

  it("that repeat a directory of the host are counted", async () => {
    const given = scene();
    commitTree(
      given,
      `for n in $(seq 30); do printf '040000 tree %s\\t%s\\n' $(git rev-parse 'HEAD^{tree}') $n; done | git mktree`,
    );
    expectRefused(given, await importFrom(given, { changedFiles: 20 }), "changedFiles");
  });

  it.each([
    [
      "pathBytes",
      `for n in $(seq 11); do tree=$(printf '040000 tree %s\\t%0200d\\n' $tree 0 | git mktree); done`,
    ],
    ["nameBytes", `tree=$(printf '040000 tree %s\\t%s\\n' $tree ${"n".repeat(256)} | git mktree)`],
  ] as const)("with names that no checkout can have are refused: %s", async (limit, script) => {
    const given = scene();
    commitTree(given, `tree=$(git rev-parse 'HEAD^{tree}')\n${script}\necho $tree`);
    expectRefused(given, await importFrom(given), limit);
  });

  it("that are as they were do not count", async () => {
    const given = scene();
    for (const cwd of [given.cwd, given.agent]) expect(git(cwd, "ls-files")).toBe("README.md");
    writeFileSync(join(given.agent, "README.md"), "changed\n");
    git(given.agent, "commit", "--quiet", "-am", "One file");
    expect(await importFrom(given, { changedFiles: 1, changedBytes: 8 })).toMatchObject({ warnings: [] });
  });
});
