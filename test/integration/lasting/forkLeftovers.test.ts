import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createSandbox } from "../../../src/index.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { e2b } from "../../../src/sandboxes/e2b.ts";
import { useE2bServer } from "../../helpers/cloud/useServers.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";
import { useLossyClient } from "../../sandboxes/containers/lossyClient.ts";

const TIMEOUT_MS = 240_000;

const open = async (sandbox: SandboxProvider) => {
  const cwd = temporaryRepository();
  const opened = await createSandbox({ branch: "agent/work", sandbox, cwd });
  onTestFinished(async () => void (await opened.close()));
  return { cwd, sandbox: opened };
};

const cleanSnapshots = async (cwd: string) => {
  const all = await cleanUp(await findRepository(cwd), {
    ...{ remove: true, runs: [], branches: [], records: false },
  });
  return all.filter(({ what }) => what === "snapshot");
};

describeWith(["docker"], "a fork in docker that fails", () => {
  it(
    "reports an image that could not be removed, and clean removes it",
    async () => {
      const { cwd, sandbox } = await open(docker({ imageName: TEST_IMAGE }));
      const label = `label=sanddune.repository=${cwd}`;
      const images = () => callClient("docker", "image", "ls", "--all", "--quiet", "--filter", label);
      onTestFinished(() => {
        if (images() !== "") callClient("docker", "image", "rm", "--force", ...images().split("\n"));
      });
      const repair = useLossyClient();
      await expect(sandbox.fork(1)).rejects.toThrow("could not be kept");
      repair();
      expect(images()).not.toBe("");
      const { warnings } = await sandbox.close();
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The snapshot .* could not be removed: docker image sanddune-snapshot:.* is left\. Remove it: .*sanddune clean$/,
        ),
      ]);
      expect(await cleanSnapshots(cwd)).toMatchObject([{ outcome: "removed" }]);
      expect(images()).toBe("");
    },
    TIMEOUT_MS,
  );

  it(
    "is not looked for any more when all its forks are closed",
    async () => {
      const { cwd, sandbox } = await open(docker({ imageName: TEST_IMAGE }));
      const forks = await sandbox.fork(2);
      await sandbox.close();
      for (const fork of forks) await fork.close();
      vi.stubEnv("DOCKER_HOST", "unix:///nowhere.sock");
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(await cleanSnapshots(cwd)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("a fork at E2B that is aborted", () => {
  const server = useE2bServer();

  it(
    "leaves no snapshot, also if E2B has not completed it yet",
    async () => {
      const { sandbox } = await open(e2b());
      const { loopback, snapshots } = server.current;
      const [controller, reason] = [new AbortController(), new Error("enough")];
      let isCompleted = false;
      const meanwhile = async () => {
        controller.abort(reason);
        await delay(600);
        isCompleted = true;
      };
      loopback.faults.push({ on: /^POST .*\/snapshots$/, times: 1, meanwhile });
      await expect(sandbox.fork(1, { signal: controller.signal })).rejects.toBe(reason);
      await waitFor(() => isCompleted);
      await delay(100);
      expect([...snapshots.keys()]).toEqual([]);
      expect((await sandbox.exec("echo works")).stdout).toBe("works\n");
    },
    TIMEOUT_MS,
  );
});
