import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { bundle } from "../../helpers/bundle.ts";
import { processesWith } from "../../helpers/processes/processes.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { newSandboxName, openIsolated } from "../openSandbox.ts";

test("close ends every process and removes the directory", async () => {
  const sandbox = await openIsolated(testIsolated());
  const { stdout } = await sandbox.exec("(setsid sleep 1000 &); sleep 1000 & echo $SANDDUNE_SANDBOX");
  const mark = `SANDDUNE_SANDBOX=${stdout.trim()}`;
  expect(processesWith(mark, "environ")).not.toEqual([]);
  await sandbox.close();
  expect(processesWith(mark, "environ")).toEqual([]);
  await expect(stat(sandbox.worktreePath)).rejects.toThrow(/ENOENT/);
});

test("close ends nothing of a sandbox whose name only begins like its own", async () => {
  const options = { runId: "r", sandboxName: newSandboxName(), repositoryPath: "/" };
  const sandbox = await testIsolated().create(options);
  const other = await testIsolated().create({ ...options, sandboxName: `${options.sandboxName}-2` });
  try {
    const running = other.exec("touch here; until [ -e go ]; do sleep 0.02; done; echo done");
    await waitFor(() => existsSync(join(other.worktreePath, "here")));
    await sandbox.close();
    await other.exec("touch go");
    expect(await running).toMatchObject({ exitCode: 0, stdout: "done\n" });
  } finally {
    await other.close();
  }
});

test("a file of 256 MiB is copied out in bounded memory", async () => {
  const copy = join(temporaryDirectory(), "copy");
  const program = bundle(join(import.meta.dirname, "copyOutUnderLimits.ts"));
  const growth = execFileSync(process.execPath, ["--expose-gc", program, "256", copy], { encoding: "utf8" });
  expect((await stat(copy)).size).toBe(256 * 1024 ** 2);
  // It is less than one.
  expect(Number(growth)).toBeLessThan(64);
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

test("a command that is aborted before any of its processes can be known by its mark is gone", async () => {
  const directory = temporaryDirectory();
  const started = join(directory, "started");
  // The first program of a command: it has cleared its environment, and has the mark again only much later.
  const slow = `exec /usr/bin/env -i /bin/sh -c 'echo $$ > "$0"; sleep 1; exec /usr/bin/env "$@"' ${started} "$@"`;
  writeFileSync(join(directory, "env"), `#!/bin/sh\n${slow}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${directory}:${process.env["PATH"]}`);
  try {
    const sandbox = await openIsolated(testIsolated());
    const controller = new AbortController();
    const reason = new Error("stop");
    const running = sandbox.exec("sleep 1000", { signal: controller.signal });
    await waitFor(() => existsSync(started) && readFileSync(started, "utf8").endsWith("\n"));
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(processIsAlive(Number(readFileSync(started, "utf8")))).toBe(false);
    await sandbox.close();
  } finally {
    vi.unstubAllEnvs();
  }
});
