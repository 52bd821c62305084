import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { USUAL_DOCKER_SOCKET } from "../../../src/sandboxes/containers/socket/dockerSocket.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { runCli } from "../../cli/callCli.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { callClient } from "../../sandboxes/containers/containers.ts";
import { useLossyClient } from "../../sandboxes/containers/lossyClient.ts";
import { play } from "../../security/support.ts";
import {
  counter,
  drafts,
  imagesOf,
  kept,
  onBranch,
  packageRepository,
  ranTimes,
  setupHook,
} from "./scene.ts";

const TIMEOUT_MS = 120_000;

/** Another address of the same daemon: sanddune cannot know that. */
const otherAddress = (): string => {
  const real = process.env["DOCKER_HOST"]?.replace("unix://", "") ?? USUAL_DOCKER_SOCKET;
  const path = join(temporaryDirectory(), "docker.sock");
  symlinkSync(real, path);
  return `unix://${path}`;
};

describeWith(["docker", "bubblewrap"], "a kept set-up", () => {
  it(
    "is neither used nor removed while DOCKER_HOST names another daemon: clean says where it is",
    async () => {
      const cwd = packageRepository();
      const count = counter();
      const options = {
        sandbox: docker({ imageName: TEST_IMAGE, mounts: count.mounts }),
        hooks: setupHook(count),
      };
      const run = (branch: string) => play(cwd, [{ commit: branch }], { ...onBranch(branch), ...options });
      const place = process.env["DOCKER_HOST"] ?? `unix://${USUAL_DOCKER_SOCKET}`;
      await run("agent/1");
      expect(imagesOf(cwd)).toHaveLength(1);
      const other = otherAddress();
      vi.stubEnv("DOCKER_HOST", other);
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const flags of [[], ["--yes"]]) {
        const { stdout } = await runCli(["clean", ...flags], { cwd });
        expect(stdout).toContain("Kept:\n  kept set-up");
        expect(stdout).toContain(`is at ${place}, and docker uses ${other} now`);
      }
      expect(kept(cwd)).toHaveLength(1);
      expect(imagesOf(cwd)).toHaveLength(1);
      await run("agent/2");
      expect(ranTimes(count)).toBe(2);
      await runCli(["clean", "--yes"], { cwd });
      expect([kept(cwd).length, imagesOf(cwd).length]).toEqual([1, 1]);
      vi.unstubAllEnvs();
      await runCli(["clean", "--yes"], { cwd });
      expect([kept(cwd), imagesOf(cwd)]).toEqual([[], []]);
    },
    TIMEOUT_MS,
  );

  it(
    "that could not be completed, nor its image removed, is reported, and stays for clean",
    async () => {
      const cwd = packageRepository();
      const count = counter();
      const repair = useLossyClient();
      const { warnings } = await play(cwd, [{ commit: "x" }], {
        ...onBranch("agent/1"),
        ...{ sandbox: docker({ imageName: TEST_IMAGE, mounts: count.mounts }), hooks: setupHook(count) },
      });
      repair();
      expect(imagesOf(cwd)).toHaveLength(1);
      expect(warnings).toEqual([
        expect.stringMatching(
          /^An unfinished kept set-up could not be removed: .*the image sanddune-snapshot:.*Remove it when this process has ended: .* clean$/s,
        ),
        expect.stringContaining("The result of the hooks could not be kept"),
      ]);
      expect(drafts(cwd)).toHaveLength(1);
      callClient("docker", "image", "rm", ...imagesOf(cwd));
    },
    TIMEOUT_MS,
  );

  it(
    "is listed by clean with its provider and its image",
    async () => {
      const cwd = packageRepository();
      const count = counter();
      const sandboxes = [
        docker({ imageName: TEST_IMAGE, mounts: count.mounts }),
        bubblewrap({ mounts: count.mounts }),
      ];
      for (const [index, sandbox] of sandboxes.entries())
        await play(cwd, [{ commit: "x" }], {
          ...onBranch(`agent/${index}`),
          ...{ sandbox, hooks: setupHook(count) },
        });
      const id = callClient("docker", "image", "ls", "--quiet", TEST_IMAGE);
      const { stdout } = await runCli(["clean"], { cwd });
      expect(stdout).toContain(`(docker, image ${id}): `);
      expect(stdout).toContain("(bubblewrap): ");
    },
    TIMEOUT_MS,
  );
});
