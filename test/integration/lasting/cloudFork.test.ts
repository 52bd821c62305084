import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox, SandboxLostError, scripted } from "../../../src/index.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { modal } from "../../../src/sandboxes/modal.ts";
import { vercel } from "../../../src/sandboxes/vercel.ts";
import { subjectsOf } from "../../cli/fixtures.ts";
import { useE2bServer, useVercelServer } from "../../helpers/cloud/useServers.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { sharedModalServer } from "../../sandboxes/modal/scene.ts";

const TIMEOUT_MS = 240_000;

const SHOW = 'git log --format=%s; git status --porcelain; cat untracked "$HOME/file"';

/** Forks a sandbox of a service twice, and works in all three. */
const forkAndWork = async (provider: SandboxProvider, snapshots: () => Iterable<unknown>): Promise<void> => {
  const cwd = temporaryRepository();
  const sandbox = await createSandbox({ branch: "agent/work", sandbox: provider, cwd });
  onTestFinished(async () => void (await sandbox.close()));
  await sandbox.exec('git commit -q --allow-empty -m Work; echo open >untracked; echo home >"$HOME/file"');
  const state = (await sandbox.exec(SHOW)).stdout;
  const forks = await sandbox.fork(2);
  expect([...snapshots()]).toEqual([]);
  for (const each of forks) onTestFinished(async () => void (await each.close()));
  for (const [index, each] of forks.entries()) {
    expect((await each.exec(SHOW)).stdout).toBe(state);
    const agent = scripted([{ commit: `Fork ${index}`, files: { "a.txt": "a\n" } }]);
    expect((await each.run({ agent, prompt: "x" })).commits).toHaveLength(1);
    expect(subjectsOf(cwd, each.branch)[0]).toBe(`Fork ${index}`);
  }
  expect((await sandbox.exec(SHOW)).stdout).toBe(state);
  await sandbox.exec("git commit -q --allow-empty -m Later");
  expect(subjectsOf(cwd, "agent/work")[0]).toBe("Later");
  await sandbox.close();
  expect((await forks[0]?.exec("cat a.txt"))?.stdout).toBe("a\n");
  for (const each of forks) await each.close();
};

describe("forks at a service", () => {
  const e2bServer = useE2bServer();
  const vercelServer = useVercelServer();
  const modalServer = sharedModalServer();

  it(
    "E2B: have the same state, and the snapshot is deleted",
    async () => {
      await forkAndWork(e2b(), () => e2bServer.current.snapshots);
      expect(e2bServer.current.created.map(({ templateID }) => templateID.includes("-fork-1"))).toEqual([
        false,
        true,
        true,
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    "Vercel: have the same state, the original continues in another session, and the snapshot is deleted",
    async () => {
      await forkAndWork(vercel(), () => vercelServer.current.snapshots);
      expect(vercelServer.current.resumed).toBe(1);
      // Otherwise Vercel would keep the files of the original after its end.
      expect(vercelServer.current.persistence).toEqual([true, false]);
    },
    TIMEOUT_MS,
  );

  it.each([[undefined], [502]])(
    "Vercel: have the same state if the answer to the snapshot is lost (status %s)",
    async (status) => {
      const { loopback } = vercelServer.current;
      const before = vercelServer.current.resumed;
      const fault = { on: /^POST .*\/snapshot$/, times: 1, afterwards: true };
      loopback.faults.push({ ...fault, ...(status !== undefined && { status }) });
      onTestFinished(() => void loopback.faults.splice(0));
      await forkAndWork(vercel(), () => vercelServer.current.snapshots);
      expect(vercelServer.current.resumed).toBe(before + 1);
    },
    TIMEOUT_MS,
  );

  it(
    "Vercel: continue if requests after the snapshot fail for a moment",
    async () => {
      const { loopback } = vercelServer.current;
      onTestFinished(() => void loopback.faults.splice(0));
      // More often than the SDK itself repeats a request.
      for (const on of [/^PATCH /, /^GET .*\/sandboxes\/sanddune-[^/]*$/])
        loopback.faults.push({ on, times: 8, status: 503 });
      await forkAndWork(vercel(), () => vercelServer.current.snapshots);
    },
    TIMEOUT_MS,
  );

  it(
    "Vercel: if the original does not continue, the error names the snapshot, which has the only copy",
    async () => {
      const { loopback, snapshots } = vercelServer.current;
      onTestFinished(() => {
        loopback.faults.splice(0);
        snapshots.clear();
      });
      const sandbox = await createSandbox({
        ...{ branch: "agent/work", sandbox: vercel(), cwd: temporaryRepository() },
      });
      onTestFinished(async () => void (await sandbox.close()));
      const on = /^GET .*\/sandboxes\/sanddune-[^/]*$/;
      loopback.faults.push({ on, times: 1, status: 400, message: "not now" });
      const error: unknown = await sandbox.fork(1).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxLostError);
      await sandbox.close();
      const [id] = snapshots.keys();
      expect(id).toBeDefined();
      expect((error as Error).message).toMatch("Vercel has kept its state, but it did not continue");
      expect((error as Error).message).toMatch(
        `The snapshot ${id} has its files, and expires in a day. Start a sandbox from it: npx sandbox create --snapshot ${id}`,
      );
    },
    TIMEOUT_MS,
  );

  it(
    "Modal: have the same state, and the image, which has an end, is deleted",
    async () => {
      await forkAndWork(modal(), () => modalServer().images);
      expect(modalServer().calls).toContain("taskSnapshotFilesystem");
    },
    TIMEOUT_MS,
  );
});
