import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { SandboxError, SandboxLostError, SandboxUnavailableError } from "../../../src/errors.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { describeWith } from "../../helpers/runtimes/runtimes.ts";
import { checkNestedMounts } from "../mounts/nestedMounts.ts";
import { openBindMount } from "../openSandbox.ts";
import { bubblewrapAttacks } from "./security.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a missing bwrap is reported with the command that installs it", async () => {
  const empty = await mkdtemp(join(tmpdir(), "sanddune-empty-"));
  vi.stubEnv("PATH", empty);
  const attempt = Promise.resolve(bubblewrap().preflight?.({ repositoryPath: "/" }));
  await expect(attempt).rejects.toThrow(SandboxUnavailableError);
  await expect(Promise.resolve(bubblewrap().preflight?.({ repositoryPath: "/" }))).rejects.toThrow(
    /apt-get install/,
  );
  await rm(empty, { recursive: true });
});

test("a machine without user namespaces has its own error", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sanddune-fake-"));
  const refusal = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
  await writeFile(join(directory, "bwrap"), refusal, { mode: 0o755 });
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  const attempt = Promise.resolve(bubblewrap().preflight?.({ repositoryPath: "/" }));
  await expect(attempt).rejects.toThrow(/namespaces.*uid map: Permission denied/s);
  await rm(directory, { recursive: true });
});

describeWith(["bubblewrap"], "bubblewrap", () => {
  test("passes its preflight", async () => {
    await bubblewrap().preflight?.({ repositoryPath: "/" });
  });

  for (const { name, run } of bubblewrapAttacks) test(name, run);

  test("files belong to the host's user", async () => {
    const { sandbox, worktree } = await openBindMount(bubblewrap());
    try {
      await sandbox.exec("echo x >made");
      expect((await stat(join(worktree, "made"))).uid).toBe(process.getuid?.());
    } finally {
      await sandbox.close();
    }
  });

  test("mounts lie over parts of other mounts", () => checkNestedMounts(bubblewrap(), "test-run"));

  test("mounts and tools of the host are seen where they were asked for", async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-tools-")));
    try {
      await mkdir(join(directory, "cache"));
      await writeFile(join(directory, "tool"), "#!/bin/sh\necho tool ran\n", { mode: 0o755 });
      const provider = bubblewrap({
        readOnlyPaths: [directory],
        mounts: [{ hostPath: join(directory, "cache"), sandboxPath: "/cache" }],
        path: `${directory}:/usr/bin:/bin`,
      });
      const { sandbox } = await openBindMount(provider);
      try {
        expect((await sandbox.exec("tool; echo kept >/cache/file")).stdout).toBe("tool ran\n");
        expect((await sandbox.exec(`echo changed >${directory}/tool`)).exitCode).not.toBe(0);
      } finally {
        await sandbox.close();
      }
      expect(await readFile(join(directory, "cache", "file"), "utf8")).toBe("kept\n");
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  test("background processes end with their command, and nothing is left after close", async () => {
    const { sandbox } = await openBindMount(bubblewrap());
    const { stdout } = await sandbox.exec("(setsid sleep 1000 &) ; sleep 1000 & echo $SANDDUNE_EXEC_ID");
    expect(processesWith(stdout.trim(), "environ")).toEqual([]);
    const directory = join(tmpdir(), `sanddune-bubblewrap-${sandbox.name}`);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    await sandbox.close();
    expect(processesWith(`SANDDUNE_SANDBOX=${sandbox.name}`, "environ")).toEqual([]);
    await expect(stat(directory)).rejects.toThrow(/ENOENT/);
  });

  test("is lost when the worktree is gone", async () => {
    const { sandbox, worktree } = await openBindMount(bubblewrap());
    await rm(worktree, { recursive: true });
    await expect(sandbox.exec("true")).rejects.toThrow(SandboxLostError);
    await sandbox.close();
  });

  test("has no sudo", async () => {
    const { sandbox } = await openBindMount(bubblewrap());
    await expect(sandbox.exec("true", { sudo: true })).rejects.toThrow(SandboxError);
    await sandbox.close();
  });
});
