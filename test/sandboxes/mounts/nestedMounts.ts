import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BindMountSandboxProvider } from "../../../src/sandboxes/contract.ts";
import { HOME_PATH, openBindMount, WORKTREE_PATH } from "../openSandbox.ts";

/** A file and a read-only directory mounted over parts of a mounted worktree: seen, and not to be got rid of. */
export const checkNestedMounts = async (provider: BindMountSandboxProvider, runId: string): Promise<void> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-nested-")));
  const at = (...names: string[]) => join(directory, ...names);
  for (const name of ["worktree/objects", "objects", "home"]) await mkdir(at(name), { recursive: true });
  await writeFile(at("worktree", ".git"), "the host's");
  await writeFile(at("git"), "the sandbox's");
  await writeFile(at("objects", "pack"), "pack");
  const mount = (name: string, sandboxPath: string, readOnly = false) => ({
    hostPath: at(name),
    sandboxPath,
    readOnly,
  });
  const { sandbox } = await openBindMount(provider, {
    runId,
    mounts: [
      mount("worktree", WORKTREE_PATH),
      mount("home", HOME_PATH),
      mount("git", `${WORKTREE_PATH}/.git`, true),
      mount("objects", `${WORKTREE_PATH}/objects`, true),
    ],
  });
  try {
    assert.equal((await sandbox.exec("cat .git objects/pack")).stdout, "the sandbox'spack");
    for (const command of [
      "rm -f .git",
      "mv .git x",
      "echo x >.git",
      "rm -rf objects",
      "echo x >objects/y",
    ]) {
      assert.notEqual((await sandbox.exec(command)).exitCode, 0, command);
    }
    assert.equal(await readFile(at("worktree", ".git"), "utf8"), "the host's");
    assert.equal(await readFile(at("git"), "utf8"), "the sandbox's");
    assert.equal(await readFile(at("objects", "pack"), "utf8"), "pack");
  } finally {
    await sandbox.close();
    await rm(directory, { recursive: true, force: true });
  }
};
