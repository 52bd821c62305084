import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bundle } from "../../helpers/bundle.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import {
  AS_TEST_USER,
  describeWith,
  isRoot,
  TEST_IMAGE,
  TEST_USER,
} from "../../helpers/runtimes/runtimes.ts";

/** Forks once as the test user. Resolves with what both sandboxes print. */
const forkAsTestUser = async (before: string, after: string): Promise<readonly string[]> => {
  const [cwd, directory] = [temporaryRepository(), temporaryDirectory()];
  const program = bundle(join(import.meta.dirname, "forkProgram.ts"), directory);
  execFileSync("chown", ["-R", TEST_USER, cwd]);
  execFileSync("chmod", ["755", cwd, directory]);
  const asUser = ["-u", TEST_USER, "--", "env", `HOME=/home/${TEST_USER}`, "TMPDIR=/tmp"];
  const args = [...asUser, process.execPath, program, cwd, before, after];
  const { stdout } = await promisify(execFile)("runuser", args, { cwd: "/" });
  return stdout.split("\n");
};

describeWith(["test user", "bubblewrap"], "a fork of an ordinary user's sandbox", () => {
  it.runIf(isRoot)("has directories without write permission, with that mode", async () => {
    const [original, fork] = await forkAsTestUser(
      'mkdir -p cache/module "$HOME/cache" && echo x >cache/module/file && chmod -R a-w cache . "$HOME/cache"',
      'cat cache/module/file; stat -c %a . cache cache/module cache/module/file "$HOME/cache"',
    );
    expect(original).toContain("555");
    expect(fork).toBe(original);
  });

  it.runIf(isRoot)("is refused with the name of a file that the user cannot read", async () => {
    const [refusal] = await forkAsTestUser("mkdir inner; echo x >inner/closed; chmod 0 inner/closed", "true");
    expect(refusal).toMatch(/^HostFileError: .*\/inner\/closed \(EACCES\)/);
  });
});

describeWith(["rootless podman"], "a sandbox of rootless podman", () => {
  it("can be forked, and its set-up is kept", { timeout: 240_000 }, async () => {
    const [cwd, directory] = [temporaryRepository(), temporaryDirectory()];
    const program = bundle(join(import.meta.dirname, "rootlessPodmanProgram.ts"), directory);
    execFileSync("chown", ["-R", TEST_USER, cwd]);
    execFileSync("chmod", ["755", cwd, directory]);
    const args = [process.execPath, program, cwd, TEST_IMAGE];
    const { stdout } = await promisify(execFile)(AS_TEST_USER ?? "", args, { cwd: "/" });
    const { first, forked, again, warnings } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(warnings).toEqual([]);
    expect(forked).toBe(`${first}later\n`);
    // The hook did not run again.
    expect(again).toBe(first);
  });
});
