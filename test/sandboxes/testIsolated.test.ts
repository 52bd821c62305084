import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { openIsolated } from "./openSandbox.ts";

const marked = async (mark: string): Promise<string[]> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")).includes(mark) ? pid : "",
    ),
  );
  return all.filter(Boolean);
};

test("close ends every process and removes the directory", async () => {
  const sandbox = await openIsolated(testIsolated());
  const { stdout } = await sandbox.exec("(setsid sleep 1000 &); sleep 1000 & echo $SANDDUNE_SANDBOX");
  const mark = `SANDDUNE_SANDBOX=${stdout.trim()}`;
  expect((await marked(mark)).length).toBeGreaterThan(0);
  await sandbox.close();
  expect(await marked(mark)).toEqual([]);
  await expect(stat(sandbox.worktreePath)).rejects.toThrow(/ENOENT/);
});

test("a file of 512 MB is copied out in bounded memory", async () => {
  const sandbox = await openIsolated(testIsolated());
  const copies = await openIsolated(testIsolated());
  const before = process.memoryUsage.rss();
  let most = before;
  const sampler = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  try {
    await sandbox.exec("truncate -s 512M large");
    const copy = join(copies.worktreePath, "copy");
    await sandbox.copyFileOut(`${sandbox.worktreePath}/large`, copy);
    expect((await stat(copy)).size).toBe(512 * 1024 ** 2);
    expect(most - before).toBeLessThan(256 * 1024 ** 2);
  } finally {
    clearInterval(sampler);
    await sandbox.close();
    await copies.close();
  }
});

test("sandboxes are made in the temporary directory, and nothing is made for an aborted signal", async () => {
  const directory = await mkdtemp(join(tmpdir(), "sanddune-tmpdir-"));
  vi.stubEnv("TMPDIR", directory);
  try {
    const reason = new Error("too late");
    const options = { runId: "r", sandboxName: "s", repositoryPath: "/" };
    const aborted = testIsolated().create({ ...options, signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    expect(await readdir(directory)).toEqual([]);
    const sandbox = await testIsolated().create(options);
    expect(await readdir(directory)).toHaveLength(1);
    await sandbox.close();
    expect(await readdir(directory)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
    await rm(directory, { recursive: true });
  }
});
