import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAtBoundary } from "../../../../src/boundary/boundary.ts";
import {
  SANDBOX_GIT_DIRECTORY,
  SANDBOX_PACKING_FILE,
} from "../../../../src/git/sandboxDirectory/sandboxGitDirectory.ts";
import { readBundle } from "../../../../src/git/transfer/bundle/readBundle.ts";
import { packingFile } from "../../../../src/git/transfer/export/packScript.ts";
import {
  takePackedExport,
  withPacking,
  withReadinessCheck,
} from "../../../../src/git/transfer/export/piggybackOnExec.ts";
import { localHandle } from "../../../helpers/repository/localHandle.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../../helpers/repository/repository.ts";

const COMMIT = "git commit --quiet --allow-empty -m Work";

/** A repository whose git directory sandbox and host share. */
const scene = () => {
  const cwd = temporaryRepository();
  const gitDirectory = join(cwd, ".git");
  const base = git(cwd, "rev-parse", "HEAD");
  writeFileSync(join(gitDirectory, "sanddune-known-commits"), `^${base}\n`);
  const starts: string[] = [];
  const packing = join(temporaryDirectory(), "pack");
  const handle = localHandle(cwd, (command) => {
    starts.push(command);
    return command.replaceAll(SANDBOX_GIT_DIRECTORY, gitDirectory).replaceAll(SANDBOX_PACKING_FILE, packing);
  });
  const sandbox = { handle, gitDirectory, hostGitDirectory: gitDirectory };
  writeFileSync(packing, packingFile(sandbox, "main"));
  return {
    cwd,
    base,
    gitDirectory,
    /** Every command that was started. */
    starts,
    checked: withReadinessCheck(handle, "local", gitDirectory),
    packing: (laterCommits: readonly string[] = []) => withPacking(sandbox, () => laterCommits),
    take: () => runAtBoundary(takePackedExport(sandbox, join(temporaryDirectory(), "bundle"))),
  };
};

describe("packing after a command", () => {
  it("starts no other command, and exports what the command has committed", async () => {
    const { cwd, packing, take, starts } = scene();
    await packing().exec(COMMIT);
    const exported = await take();
    expect(exported?.tip).toBe(git(cwd, "rev-parse", "HEAD"));
    expect(readBundle(exported?.bundlePath ?? "").heads.get("refs/heads/main")).toBe(exported?.tip);
    expect(starts).toHaveLength(1);
  });

  it("keeps the exit code, the output and the input of the command", async () => {
    const { packing } = scene();
    const script = "cat; echo problem >&2; exit 7";
    expect(await packing().exec(script, { stdin: "input\n" })).toMatchObject({
      ...{ exitCode: 7, stdout: "input\n", stderr: "problem\n" },
    });
  });

  it("leaves out what the host has imported since", async () => {
    const { cwd, packing, take } = scene();
    await packing().exec(COMMIT);
    await packing([git(cwd, "rev-parse", "HEAD")]).exec("true");
    expect((await take())?.bundlePath).toBeUndefined();
  });

  it("is read once: what is left of an earlier command is not taken for the next one's", async () => {
    const { packing, take } = scene();
    await packing().exec(COMMIT);
    expect(await take()).toBeDefined();
    expect(await take()).toBeUndefined();
    await packing().exec(COMMIT);
    await packing().exec("rm -r .git");
    expect(await take()).toBeUndefined();
  });

  it("that finds a broken branch leaves it to the host to find out why", async () => {
    const { packing, take } = scene();
    await packing().exec("rm .git/refs/heads/main");
    expect(await take()).toBeUndefined();
  });

  it("follows no link in the place of the report", async () => {
    const { gitDirectory, take } = scene();
    const elsewhere = join(temporaryDirectory(), "report");
    writeFileSync(elsewhere, `tip ${"1".repeat(40)}\ncomplete\n`);
    symlinkSync(elsewhere, join(gitDirectory, "sanddune-export.report"));
    expect(await take()).toBeUndefined();
    expect(existsSync(elsewhere)).toBe(true);
  });
});

it.each(["report", "bundle"])(
  "no directory in the place of the %s is emptied on the host, where the agent could swap it for a link",
  async (name) => {
    const { cwd, gitDirectory, packing, take } = scene();
    const directory = join(gitDirectory, `sanddune-export.${name}`);
    mkdirSync(directory);
    writeFileSync(join(directory, "file"), "kept\n");
    expect(await take()).toBeUndefined();
    const found = await packing().exec(`cat .git/sanddune-export.${name}/file; ${COMMIT}`);
    expect(found.stdout).toBe("kept\n");
    // The sandbox itself removes a bundle that is a directory. Without a report, the host exports with a command of its own.
    expect((await take())?.tip).toBe(name === "bundle" ? git(cwd, "rev-parse", "HEAD") : undefined);
  },
);

describe("the readiness check", () => {
  it("precedes the first command, in the same shell, and no other", async () => {
    const { checked, starts } = scene();
    expect((await checked.handle.exec("echo one; exit 3")).exitCode).toBe(3);
    expect((await checked.handle.exec("echo two")).stdout).toBe("two\n");
    expect(starts).toHaveLength(2);
    expect(starts[1]).toBe("echo two");
    expect(checked.isUnused()).toBe(false);
  });

  it("is made by each of several first commands", async () => {
    const { checked, gitDirectory } = scene();
    const results = await Promise.all(["a", "b"].map((word) => checked.handle.exec(`echo ${word}`)));
    expect(results.map(({ stdout }) => stdout)).toEqual(["a\n", "b\n"]);
    expect(readdirSync(gitDirectory).filter((name) => name.startsWith("sanddune-ready"))).toHaveLength(2);
  });

  it.each([
    ["forges the verdict", "echo no-git > .git/sanddune-ready-0"],
    ["makes the verdict larger than any text", "truncate -s 3G .git/sanddune-ready-0"],
    [
      "replaces the objects by a link to an empty directory",
      "echo no-git > .git/sanddune-ready-0; mv .git/objects .git/moved; mkdir empty; ln -s ../empty .git/objects",
    ],
  ])("counts a sandbox as used in which a command %s", async (_, tamper) => {
    const { checked } = scene();
    expect((await checked.handle.exec(`${tamper}; exit 3`)).exitCode).toBe(3);
    expect(checked.isUnused()).toBe(false);
  });

  it("starts the command in its own directory", async () => {
    const { checked, cwd } = scene();
    mkdirSync(join(cwd, "sub dir"));
    expect((await checked.handle.exec("pwd", { cwd: join(cwd, "sub dir") })).stdout).toBe(`${cwd}/sub dir\n`);
  });

  /** A repository without objects of its own, as a sandbox has at the start: only then it is known to be unused. */
  const fresh = (spoil: string) => {
    const cwd = temporaryDirectory();
    const directory = join(cwd, ".git");
    git(cwd, "init", "--quiet");
    const handle = localHandle(
      cwd,
      (command) => `${spoil}${command.replaceAll(SANDBOX_GIT_DIRECTORY, directory)}`,
    );
    return { cwd, ...withReadinessCheck(handle, "local", directory) };
  };

  it.each([
    ["git is missing", "PATH=/nowhere\n", "git is not installed in it"],
    ["git finds no commit", "", "git does not work in it"],
    ["the directory is missing", "git() { :; }\n", "the branch has no directory for /nowhere"],
    ["the git directory is another user's", "[() { return 1; }\n", "SandboxUserMismatchError"],
  ])("does not start the command if %s", async (_, spoil, problem) => {
    const { cwd, handle, isUnused } = fresh(spoil);
    const error = await handle
      .exec("touch started", { cwd: problem.includes("nowhere") ? "/nowhere" : cwd })
      .catch(String);
    expect(error).toContain(problem);
    expect([existsSync(join(cwd, "started")), isUnused()]).toEqual([false, true]);
  });
});
