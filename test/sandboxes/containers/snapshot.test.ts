import { randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import { dockerLeftovers, podmanLeftovers } from "../../../src/sandboxes/containers/leftovers.ts";
import type { ContainerOptions } from "../../../src/sandboxes/containers/options.ts";
import type { SandboxHandle, SandboxSnapshot } from "../../../src/sandboxes/contract.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { RUN_ID } from "../../helpers/repository/runId.ts";
import { describeWith, TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openBindMount } from "../openSandbox.ts";
import { callClient, ENGINES } from "./containers.ts";

const LEFTOVERS = { docker: dockerLeftovers, podman: podmanLeftovers };

for (const [engine, provider] of ENGINES) {
  const imagesOf = (name: string): string[] =>
    callClient(engine, "image", "ls", "--all", "--quiet", "--filter", `label=sanddune.snapshot=${name}`)
      .split("\n")
      .filter(Boolean);

  const keep = async (sandbox: SandboxHandle): Promise<SandboxSnapshot> => {
    const place = {
      name: `${RUN_ID}-${randomBytes(6).toString("hex")}`.toLowerCase(),
      directory: temporaryDirectory(),
    };
    const state = (await sandbox.snapshot?.(place)) ?? "";
    const snapshot = { ...place, state };
    onTestFinished(() => provider().removeSnapshot?.(snapshot));
    return snapshot;
  };

  describeWith([engine], `${engine} snapshots`, () => {
    test("the image has no env var of a command, and no label of the run", async () => {
      const runId = `run-${randomBytes(6).toString("hex")}`;
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE }), { runId });
      onTestFinished(() => sandbox.close());
      await sandbox.exec("true", { env: { KEY: "a secret value" } });
      const { name, state } = await keep(sandbox);
      const [image] = JSON.parse(callClient(engine, "image", "inspect", state));
      expect(JSON.stringify(image)).not.toContain("a secret value");
      expect(image.Config.Labels).toMatchObject({ "sanddune.snapshot": name, "sanddune.run": "" });
      expect(imagesOf(name)).toHaveLength(1);
    });

    test("an env var of extraArgs, which would be in the image, is refused by name", async () => {
      const extraArgs = ["--env", "TOKEN=a secret value", "--env", "PATH=/own/bin:/usr/bin:/bin"];
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE, extraArgs }));
      onTestFinished(() => sandbox.close());
      const name = `${RUN_ID}-${randomBytes(6).toString("hex")}`.toLowerCase();
      const keeping = sandbox.snapshot?.({ name, directory: temporaryDirectory() });
      await expect(keeping).rejects.toThrow("the env var TOKEN of `extraArgs` would become part of an image");
      await expect(keeping).rejects.not.toThrow("a secret value");
      expect(imagesOf(name)).toEqual([]);
    });

    test.each([
      ["volume", ["--volume", "/data"]],
      ["tmpfs", ["--tmpfs", "/data"]],
      ["tmpfs of a mount", ["--mount", "type=tmpfs,destination=/data"]],
    ])("a %s, whose files the image would not have, is refused by its place", async (_, extraArgs) => {
      const { sandbox } = await openBindMount(provider({ imageName: TEST_IMAGE, extraArgs }));
      onTestFinished(() => sandbox.close());
      const name = `${RUN_ID}-${randomBytes(6).toString("hex")}`.toLowerCase();
      const keeping = sandbox.snapshot?.({ name, directory: temporaryDirectory() });
      await expect(keeping).rejects.toThrow("/data is a volume or a tmpfs of the container");
      expect(imagesOf(name)).toEqual([]);
    });

    test("the image of a removed snapshot ends with its last container", async () => {
      const settings = provider({ imageName: TEST_IMAGE });
      const { sandbox } = await openBindMount(settings);
      onTestFinished(() => sandbox.close());
      const snapshot = await keep(sandbox);
      const first = await openBindMount(settings, { snapshot });
      const second = await openBindMount(settings, { snapshot });
      await settings.removeSnapshot?.(snapshot);
      expect(imagesOf(snapshot.name)).toHaveLength(1);
      const left = { name: snapshot.name, runId: "a-run" };
      expect(await LEFTOVERS[engine].findSnapshot?.(left)).toContain(snapshot.name);
      expect(await LEFTOVERS[engine].whySnapshotStays?.(left)).toContain("still exists");
      await first.sandbox.close();
      expect((await second.sandbox.exec("echo works")).stdout).toBe("works\n");
      await second.sandbox.close();
      expect(imagesOf(snapshot.name)).toEqual([]);
      expect(await LEFTOVERS[engine].findSnapshot?.(left)).toBeUndefined();
      expect(await LEFTOVERS[engine].whySnapshotStays?.(left)).toBeUndefined();
      await settings.removeSnapshot?.(snapshot);
    });

    test("the image of a snapshot that exists stays when its containers are closed", async () => {
      const settings = provider({ imageName: TEST_IMAGE });
      const { sandbox } = await openBindMount(settings);
      onTestFinished(() => sandbox.close());
      const snapshot = await keep(sandbox);
      await (await openBindMount(settings, { snapshot })).sandbox.close();
      expect(imagesOf(snapshot.name)).toHaveLength(1);
    });

    test("a sandbox starts from the id of the image, wherever its tag is now", async () => {
      const settings = provider({ imageName: TEST_IMAGE });
      const { sandbox } = await openBindMount(settings);
      onTestFinished(() => sandbox.close());
      await sandbox.exec("echo mine >/tmp/file");
      const snapshot = await keep(sandbox);
      callClient(engine, "tag", TEST_IMAGE, `sanddune-snapshot:${snapshot.name}`);
      const copy = await openBindMount(settings, { snapshot });
      onTestFinished(() => copy.sandbox.close());
      expect((await copy.sandbox.exec("cat /tmp/file")).stdout).toBe("mine\n");
      await expect(openBindMount(settings, { snapshot: { ...snapshot, state: TEST_IMAGE } })).rejects.toThrow(
        "is not the id of an image",
      );
    });

    test("files keep their owners and modes, and the user of the commands has the same rights", async () => {
      const settings = provider({ imageName: TEST_IMAGE, user: "4711:4712" });
      const { sandbox } = await openBindMount(settings, { owner: 4711 });
      onTestFinished(() => sandbox.close());
      await sandbox.exec("umask 077; mkdir /tmp/own; echo mine >/tmp/own/file");
      const snapshot = await keep(sandbox);
      const copy = await openBindMount(settings, { snapshot, owner: 4711 });
      onTestFinished(() => copy.sandbox.close());
      const { stdout } = await copy.sandbox.exec(
        "cat /tmp/own/file; stat -c %u:%g:%a /tmp/own/file; id -u; pwd",
      );
      expect(stdout).toBe("mine\n4711:4712:600\n4711\n/sanddune/repo\n");
    });

    test("a snapshot that is gone is an error that names it", async () => {
      const settings = provider({ imageName: TEST_IMAGE });
      const { sandbox } = await openBindMount(settings);
      onTestFinished(() => sandbox.close());
      const snapshot = await keep(sandbox);
      await settings.removeSnapshot?.(snapshot);
      const opening = openBindMount(settings, { snapshot });
      await expect(opening).rejects.toThrow(SandboxError);
      await expect(opening).rejects.toThrow(`the snapshot ${snapshot.name} does not exist any more`);
    });

    test("the base of a snapshot is the image that was built since the preflight", async () => {
      const imageName = `sanddune-test-base:${process.pid}`;
      const place = { repositoryPath: temporaryDirectory() };
      callClient(engine, "tag", TEST_IMAGE, imageName);
      const { preflight, snapshotBase } = provider({ imageName });
      try {
        await preflight?.(place);
        const before = await snapshotBase?.(place);
        const container = callClient(engine, "create", TEST_IMAGE, "true");
        callClient(engine, "commit", "--change", "ENV REBUILT=1", container, imageName);
        callClient(engine, "rm", container);
        expect(await snapshotBase?.(place)).not.toBe(before);
      } finally {
        callClient(engine, "rmi", "--force", imageName);
      }
    });

    test("the base of a snapshot is the image by its id, and the settings", async () => {
      const baseOf = (settings: ContainerOptions) =>
        provider({ imageName: TEST_IMAGE, ...settings }).snapshotBase?.({
          repositoryPath: temporaryDirectory(),
        });
      const base = await baseOf({});
      expect(base?.split(" ")[0]).toBe(
        callClient(engine, "image", "inspect", "--format", "{{.Id}}", TEST_IMAGE),
      );
      expect(await baseOf({ pids: 100, env: { X: "1" } })).toBe(base);
      const others: ContainerOptions[] = [
        { user: "1000:1000" },
        { network: "none" },
        { mounts: [{ hostPath: "/usr/share", sandboxPath: "/share", readOnly: true }] },
        { capabilities: ["CHOWN"] },
        { extraArgs: ["--platform", "linux/arm64"] },
      ];
      for (const settings of others) expect(await baseOf(settings)).not.toBe(base);
      expect(await baseOf({ extraArgs: ["--env", "SECRET=hunter2"] })).not.toMatch(/hunter2/);
    });
  });
}
