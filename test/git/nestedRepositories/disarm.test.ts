import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { disarmNestedRepositories } from "../../../src/git/nestedRepositories/disarm.ts";
import type { NestedSearch } from "../../../src/git/nestedRepositories/findNestedRepositories.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { asOrdinaryUser } from "../../helpers/runtimes/ordinaryUser.ts";

const disarm = (checkoutPath: string, rest: Partial<NestedSearch> = {}): Promise<string[]> =>
  Effect.runPromise(
    disarmNestedRepositories(
      { checkoutPath, skipsConfigDirectory: false, changedSince: 0n, ...rest },
      new Map(),
    ),
  );

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);

const plant = (path: string, mode: number): void => {
  writeFileSync(path, "");
  chmodSync(path, mode);
};

describe("set-uid programs", () => {
  it("outside are not reached by a link to them, nor by one to their directory", async () => {
    const [cwd, outside] = [temporaryRepository(), temporaryDirectory()];
    plant(join(outside, "x"), 0o4755);
    symlinkSync(join(outside, "x"), join(cwd, "link"));
    symlinkSync(outside, join(cwd, "directory"));
    expect(await disarm(cwd)).toEqual([]);
    expect(modeOf(join(outside, "x"))).toBe("4755");
  });

  it("are left alone where the caller does not say whose they are", async () => {
    const cwd = temporaryRepository();
    plant(join(cwd, "x"), 0o4755);
    const search = { checkoutPath: cwd, skipsConfigDirectory: false };
    expect(await Effect.runPromise(disarmNestedRepositories(search, new Map()))).toEqual([]);
    expect(modeOf(join(cwd, "x"))).toBe("4755");
  });

  it("keep their names, also where they are pipes", async () => {
    const cwd = temporaryRepository();
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    chmodSync(join(cwd, "pipe"), 0o4755);
    expect(await disarm(cwd)).toEqual([expect.stringContaining("Those permissions were removed.")]);
    expect(modeOf(join(cwd, "pipe"))).toBe("755");
  });

  it("are found in unreadable directories, under any name", async () => {
    const cwd = temporaryRepository();
    const name = Buffer.concat([Buffer.from(`${cwd}/a\n\x1b`), Buffer.from([0xff])]);
    writeFileSync(name, "");
    chmodSync(name, 0o4111);
    const [sentence] = await disarm(cwd);
    expect(sentence).toContain("Those permissions were removed.");
    expect(statSync(name).mode & 0o7777).toBe(0o111);
  });

  it("do not include set-gid directories, which users share", async () => {
    const cwd = temporaryRepository();
    mkdirSync(join(cwd, "shared"));
    chmodSync(join(cwd, "shared"), 0o2775);
    expect(await disarm(cwd)).toEqual([]);
    expect(modeOf(join(cwd, "shared"))).toBe("2775");
  });

  it.runIf(process.getuid?.() === 0)(
    "of another user are reported, with the command that helps",
    async () => {
      const cwd = temporaryRepository();
      mkdirSync(join(cwd, "of-root"));
      await asOrdinaryUser(cwd, async () => {
        process.seteuid?.(0);
        plant(join(cwd, "of-root/x"), 0o4755);
        process.seteuid?.(65534);
        const [sentence] = await disarm(cwd);
        expect(sentence).toContain("could not be removed");
        expect(sentence).toContain(`sudo chmod -R ug-s ${cwd}`);
      });
    },
  );

  it.runIf(process.getuid?.() === 0)("include devices, which lose all permissions", async () => {
    const cwd = temporaryRepository();
    execFileSync("mknod", ["-m", "666", join(cwd, "null"), "c", "1", "3"]);
    const [sentence] = await disarm(cwd);
    expect(sentence).toContain('"null"');
    expect(modeOf(join(cwd, "null"))).toBe("0");
  });
});

describe("a repository in an unreadable directory", () => {
  it.each([
    ["a", ["a"]],
    ["a/b/c", ["a/b/c", "a/b", "a"]],
    ["a", ["."]],
  ])("is disarmed: %s, where the closed ones are %s", async (directory, closed) => {
    const cwd = temporaryRepository();
    const path = join(cwd, directory);
    git(cwd, "init", "--quiet", directory);
    await asOrdinaryUser(cwd, async () => {
      for (const step of closed) chmodSync(join(cwd, step), 0o311);
      expect(existsSync(join(path, ".git/HEAD"))).toBe(true);
      expect(() => readdirSync(join(cwd, closed[0] as string))).toThrow(/EACCES/);
      expect((await disarm(cwd)).join()).toContain(JSON.stringify(directory));
      expect(existsSync(join(path, ".git"))).toBe(false);
    });
  });
});

it("a repository among so many set-uid programs that not all can be listed is not passed over in silence", async () => {
  const cwd = temporaryRepository();
  git(cwd, "init", "--quiet", "sub");
  const deep = join(cwd, ...Array.from({ length: 15 }, () => "d".repeat(240)));
  mkdirSync(deep, { recursive: true });
  // 8.8 MB of paths.
  for (let index = 0; index < 2200; index++) plant(join(deep, `${"x".repeat(240)}${index}`), 0o4755);
  const sentences = (await disarm(cwd)).join("\n");
  expect(sentences).toContain(`Not all of ${cwd} could be looked at`);
  // What was listed is harmless none the less.
  expect(sentences).toContain("Those permissions were removed.");
});

it("a renamed .git is not a repository either", async () => {
  const cwd = temporaryRepository();
  git(cwd, "init", "--quiet", "sub");
  expect(await disarm(cwd)).toHaveLength(1);
  const [renamed = ""] = readdirSync(join(cwd, "sub"));
  expect(renamed).toMatch(/^\.git\.sanddune-/);
  expect(git(join(cwd, "sub", renamed), "rev-parse", "--show-toplevel")).toBe(cwd);
  expect(await disarm(cwd)).toEqual([]);
});

it("a bare repository is the user's only where the trusted commit has it with the same programs", async () => {
  const cwd = temporaryRepository();
  git(cwd, "clone", "--quiet", "--bare", ".", "a.git");
  writeFileSync(join(cwd, "a.git/refs/heads/x"), git(cwd, "rev-parse", "HEAD"));
  git(cwd, "add", "--force", "a.git");
  git(cwd, "commit", "--quiet", "-m", "Fixture");
  const trustedCommit = git(cwd, "rev-parse", "HEAD");
  expect(await disarm(cwd, { trustedCommit })).toEqual([]);
  execFileSync("cp", ["-r", join(cwd, "a.git"), join(cwd, "b.git")]);
  expect(await disarm(cwd, { trustedCommit })).toEqual([expect.stringContaining('"b.git"')]);
  for (const change of ["hooks/post-index-change", "config"]) {
    writeFileSync(join(cwd, "a.git", change), "#");
    expect(await disarm(cwd, { trustedCommit })).toEqual([expect.stringContaining('"a.git"')]);
    git(cwd, "checkout", "--quiet", "a.git");
    git(cwd, "clean", "-fdxq", "a.git");
  }
  expect(await disarm(cwd)).toEqual([expect.stringContaining('"a.git"')]);
});
