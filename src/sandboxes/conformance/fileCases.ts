import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../../errors.ts";
import { type CaseDefinition, copyToSandbox, withHostDirectory } from "./conformanceCase.ts";

const sha256 = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");

const NAMES = ["with space", "ünï☃😀", "new\nline", "-rf", `quote'"$(id)\`*`, ".hidden", "x".repeat(200)];

/** Copies in and out. */
export const fileCases: readonly CaseDefinition[] = [
  {
    name: "a binary file of 5 MB survives the way in and out",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        const content = Buffer.concat([
          Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
          randomBytes(5e6),
        ]);
        await writeFile(join(directory, "in"), content);
        const path = `${sandbox.worktreePath}/made/on/the/way/file.bin`;
        await copyToSandbox(sandbox, join(directory, "in"), path);
        await sandbox.copyFileOut(path, join(directory, "out"));
        assert.equal(sha256(await readFile(join(directory, "out"))), sha256(content));
      }),
  },
  {
    name: "an empty file survives, and a larger one is replaced",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        await writeFile(join(directory, "empty"), "");
        await writeFile(join(directory, "out"), "old content");
        const path = `${sandbox.worktreePath}/file`;
        await sandbox.exec("echo something longer >file");
        await copyToSandbox(sandbox, join(directory, "empty"), path);
        await sandbox.copyFileOut(path, join(directory, "out"));
        assert.equal((await stat(join(directory, "out"))).size, 0);
      }),
  },
  {
    name: "file names may hold anything",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        for (const name of NAMES) {
          await writeFile(join(directory, name), name);
          const path = `${sandbox.worktreePath}/in/${name}`;
          await copyToSandbox(sandbox, join(directory, name), path);
          await mkdir(join(directory, "out"), { recursive: true });
          await sandbox.copyFileOut(path, join(directory, "out", name));
          assert.equal(await readFile(join(directory, "out", name), "utf8"), name);
        }
        assert.deepEqual((await readdir(join(directory, "out"))).sort(), [...NAMES].sort());
      }),
  },
  {
    name: "executable files stay executable",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        await writeFile(join(directory, "script"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
        await copyToSandbox(sandbox, join(directory, "script"), `${sandbox.worktreePath}/script`);
        assert.equal((await sandbox.exec("./script")).stdout, "ran\n");
      }),
  },
  {
    name: "copying a missing host file in is refused",
    makesNoFiles: true,
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        const path = join(directory, "missing");
        await assert.rejects(copyToSandbox(sandbox, path, `${sandbox.worktreePath}/x`), SandboxError);
      }),
  },
  {
    name: "copying out a missing file, a directory, a link or a pipe is refused and leaves the destination alone",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        await sandbox.exec("mkdir dir; echo x >file; ln -s file link; ln -s /nowhere dangling; mkfifo pipe");
        const destination = join(directory, "out");
        await writeFile(destination, "untouched");
        for (const name of ["missing", "dir", "link", "dangling", "pipe"]) {
          const path = `${sandbox.worktreePath}/${name}`;
          await assert.rejects(
            sandbox.copyFileOut(path, destination),
            (error) => error instanceof SandboxError && error.message.includes(path),
          );
        }
        assert.deepEqual(await readdir(directory), ["out"]);
        assert.equal(await readFile(destination, "utf8"), "untouched");
      }),
  },
  {
    name: "copying out onto a link, or through a linked directory, is refused",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        await sandbox.exec("echo new >file");
        const victim = join(directory, "victim");
        await mkdir(join(directory, "real"));
        await writeFile(victim, "untouched");
        await symlink(victim, join(directory, "link"));
        await symlink(join(directory, "real"), join(directory, "linked"));
        const path = `${sandbox.worktreePath}/file`;
        await assert.rejects(sandbox.copyFileOut(path, join(directory, "link")), SandboxError);
        await assert.rejects(sandbox.copyFileOut(path, join(directory, "linked", "out")), SandboxError);
        assert.equal(await readFile(victim, "utf8"), "untouched");
        assert.deepEqual(await readdir(join(directory, "real")), []);
        assert.deepEqual((await readdir(directory)).sort(), ["link", "linked", "real", "victim"]);
      }),
  },
  {
    name: "a directory is copied in with its links, modes, empty directories and odd names, where the provider copies directories",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        if (!("copyIn" in sandbox)) return;
        const tree = join(directory, "tree");
        await mkdir(join(tree, "inner", "empty"), { recursive: true });
        await writeFile(join(tree, "inner", "file"), "content");
        await writeFile(join(tree, "script"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
        await writeFile(join(tree, "private"), "", { mode: 0o600 });
        await symlink("inner/file", join(tree, "link"));
        await symlink("/nowhere/at all", join(tree, "dangling"));
        for (const name of NAMES) await writeFile(join(tree, name), name);
        await sandbox.copyIn(tree, `${sandbox.worktreePath}/made/copied`);
        const { stdout } = await sandbox.exec(
          `cat inner/file; readlink link dangling; ls inner/empty; ./script; ls -l private | cut -c 1-10
for name in ${NAMES.map((name) => `'${name.replaceAll("'", "'\\''")}'`).join(" ")}; do
  [ "$(cat -- "$name" && echo .)" = "$name." ] || echo "$name is wrong"
done`,
          { cwd: `${sandbox.worktreePath}/made/copied` },
        );
        assert.equal(stdout, "contentinner/file\n/nowhere/at all\nran\n-rw-------\n");
      }),
  },
  {
    name: "a directory that is copied over another one is merged into it",
    check: (sandbox) =>
      withHostDirectory(async (directory) => {
        if (!("copyIn" in sandbox)) return;
        const target = `${sandbox.worktreePath}/target`;
        await sandbox.exec(
          "mkdir -p target/inner; echo mine >target/mine; echo older text >target/inner/file",
        );
        await mkdir(join(directory, "inner"));
        await writeFile(join(directory, "inner", "file"), "new");
        await sandbox.copyIn(directory, target);
        const { stdout } = await sandbox.exec("cat mine inner/file; ls . inner", { cwd: target });
        assert.equal(stdout, "mine\nnew.:\ninner\nmine\n\ninner:\nfile\n");
      }),
  },
];
