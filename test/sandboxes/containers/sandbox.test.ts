import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { InvalidOptionsError, SandboxError } from "../../../src/errors.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { describeWith, isRoot, TEST_IMAGE, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { checkNestedMounts } from "../mounts/nestedMounts.ts";
import {
  HOME_PATH,
  newSandboxName,
  type OpenBindMount,
  openBindMount,
  WORKTREE_PATH,
} from "../openSandbox.ts";
import { callClient, containersOf, ENGINES, inspectContainer } from "./containers.ts";

for (const [engine, provider] of ENGINES) {
  const runId = `run-${randomBytes(6).toString("hex")}`;
  const image = TEST_IMAGE;

  describeWith([engine], `${engine} sandboxes`, () => {
    /** For tests that want nothing unusual, and do not end it. */
    let shared: OpenBindMount;
    beforeAll(async () => {
      shared = await openBindMount(provider({ imageName: image }), { runId });
    });
    afterAll(async () => {
      await shared.sandbox.close();
      expect(containersOf(engine, runId)).toEqual([]);
    });

    test("commands have no capabilities, and root has none either", async () => {
      for (const sudo of [false, true]) {
        const { stdout } = await shared.sandbox.exec(
          "grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status",
          { sudo },
        );
        expect(stdout.replace(/\s+/g, " ")).toBe(
          "CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 ",
        );
      }
    });

    test("limits and labels are the container's", async () => {
      const { sandbox, repository } = await openBindMount(
        provider({ imageName: image, memory: "256m", cpus: 0.5, pids: 100, capabilities: ["CHOWN"] }),
        { runId },
      );
      try {
        const { HostConfig, Config } = inspectContainer(engine, sandbox.name);
        expect(HostConfig).toMatchObject({
          Memory: 256 * 1024 * 1024,
          NanoCpus: 5e8,
          PidsLimit: 100,
        });
        expect(Config?.["Labels"]).toMatchObject({
          "sanddune.run": runId,
          "sanddune.repository": repository,
        });
        const limit = await sandbox.exec(
          "cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null",
        );
        expect(limit.stdout.trim()).toBe(String(256 * 1024 * 1024));
        expect((await sandbox.exec("grep CapEff /proc/self/status", { sudo: true })).stdout).toMatch(
          /0001$/m,
        );
      } finally {
        await sandbox.close();
      }
    });

    describeWith(["root"], "for any user of the host", () => {
      test.each([
        { whose: "root", of: TEST_USER_IMAGE, uid: 0 },
        { whose: "the image's user", of: TEST_USER_IMAGE, uid: 1000 },
        { whose: "somebody whom the image does not know", of: TEST_IMAGE, uid: 501 },
      ])("files belong to the host's user: $whose", async ({ of, uid }) => {
        const settings = { imageName: of, user: `${uid}:${uid}` };
        const { sandbox, worktree } = await openBindMount(provider(settings), { runId, owner: uid });
        try {
          const made = await sandbox.exec('echo x >made && touch "$HOME/x" && id -u');
          expect(made).toEqual({ stdout: `${uid}\n`, stderr: "", exitCode: 0 });
          expect(await stat(join(worktree, "made"))).toMatchObject({ uid, gid: uid });
          await sandbox.copyFileIn(join(worktree, "made"), `${WORKTREE_PATH}/copied`);
          expect(await stat(join(worktree, "copied"))).toMatchObject({ uid, gid: uid });
        } finally {
          await sandbox.close();
        }
      });
    });

    test("a user whom the image does not know has a name and a home, and cannot end the sandbox with kill -9 -1", async () => {
      const { sandbox } = await openBindMount(provider({ imageName: image, user: "501:20" }), {
        runId,
        ...(isRoot && { owner: 501 }),
      });
      try {
        const { stdout } = await sandbox.exec('id -un; echo "$HOME"; getent passwd 501 | cut -d: -f6');
        expect(stdout).toBe(`sanddune\n${HOME_PATH}\n${HOME_PATH}\n`);
        expect((await sandbox.exec("kill -9 -1; sleep 1000")).exitCode).toBe(137);
        expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      } finally {
        await sandbox.close();
      }
    });

    test("root cannot end the sandbox either, and what it leaves behind is reaped", async () => {
      const { sandbox } = await openBindMount(provider({ imageName: image, user: "0:0" }), { runId });
      try {
        expect((await sandbox.exec("kill -9 -1; sleep 1000")).exitCode).toBe(137);
        await sandbox.exec("kill -9 1; kill -TERM 1; (sleep 0.1 &)");
        const zombies = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ' || true";
        await waitFor(async () => (await sandbox.exec(`sleep 0.2; ${zombies}`)).stdout === "0\n");
      } finally {
        await sandbox.close();
      }
    });

    test("background processes live on after their command", async () => {
      const { stdout: pid } = await shared.sandbox.exec("sleep 1000 & echo $!");
      expect((await shared.sandbox.exec(`kill ${pid}`)).exitCode).toBe(0);
    });

    test("mounts: absolute, from home, relative, read-only, with odd names", async () => {
      const outside = await realpath(await mkdtemp(join(tmpdir(), "sanddune-mount-test-")));
      vi.stubEnv("HOME", outside);
      const odd = join(outside, "a,b\"c d:e'f");
      try {
        for (const path of [odd, join(outside, "cache"), join(outside, "absolute")]) {
          await mkdir(path);
          await writeFile(join(path, "file"), path);
        }
        const repository = join(outside, "repo");
        await mkdir(join(repository, "part"), { recursive: true });
        await writeFile(join(repository, "part", "file"), "relative");
        expect(homedir()).toBe(outside);
        const mounts = [
          { hostPath: join(outside, "absolute"), sandboxPath: "/m/absolute", readOnly: true },
          { hostPath: "~/cache", sandboxPath: "/m/cache" },
          { hostPath: "part", sandboxPath: `${WORKTREE_PATH}/part` },
          { hostPath: odd, sandboxPath: "/m/odd" },
        ];
        const { sandbox } = await openBindMount(provider({ imageName: image, mounts }), {
          runId,
          repositoryPath: repository,
        });
        try {
          const { stdout } = await sandbox.exec("cat /m/absolute/file /m/cache/file part/file /m/odd/file");
          expect(stdout).toBe(`${join(outside, "absolute")}${join(outside, "cache")}relative${odd}`);
          const write = await sandbox.exec("echo changed >/m/cache/file; echo changed >/m/absolute/file");
          expect(write.exitCode).not.toBe(0);
          expect(await readFile(join(outside, "cache", "file"), "utf8")).toBe("changed\n");
          expect(await readFile(join(outside, "absolute", "file"), "utf8")).not.toContain("changed");
        } finally {
          await sandbox.close();
        }
        const unsafe = provider({ imageName: image, mounts: [{ hostPath: "~", sandboxPath: "/x" }] });
        await expect(unsafe.preflight?.({ repositoryPath: repository })).rejects.toThrow(InvalidOptionsError);
        await expect(openBindMount(unsafe, { runId })).rejects.toThrow(InvalidOptionsError);
      } finally {
        vi.unstubAllEnvs();
        await rm(outside, { recursive: true, force: true });
      }
    });

    test("mounts lie over parts of other mounts", () =>
      checkNestedMounts(provider({ imageName: image }), runId));

    test("several networks can be connected", async () => {
      const networks = [newSandboxName(), newSandboxName()];
      try {
        for (const network of networks) callClient(engine, "network", "create", network);
        const { sandbox } = await openBindMount(provider({ imageName: image, network: networks }), { runId });
        try {
          const settings = inspectContainer(engine, sandbox.name)["NetworkSettings"];
          expect(Object.keys(settings?.["Networks"] as object).sort()).toEqual([...networks].sort());
        } finally {
          await sandbox.close();
        }
      } finally {
        callClient(engine, "network", "rm", ...networks);
      }
    });

    test("a secret is not in what the engine tells about a container", async () => {
      const secret = randomBytes(16).toString("hex");
      const { sandbox } = shared;
      let inspected = "";
      let markReady = () => {};
      const ready = new Promise<void>((resolve) => {
        markReady = resolve;
      });
      await sandbox.exec("echo running; read -r line", {
        env: { SECRET: secret },
        stdin: (async function* () {
          await ready;
          inspected = callClient(engine, "inspect", sandbox.name);
          yield Buffer.from("go\n");
        })(),
        onLine: () => markReady(),
      });
      expect(inspected).toContain(sandbox.name);
      expect(inspected).not.toContain(secret);
    });

    test("nothing is left when a sandbox cannot be made, and another's container stays", async () => {
      await expect(
        openBindMount(provider({ imageName: image, network: ["none", "no-such-network"] }), { runId }),
      ).rejects.toThrow(SandboxError);
      await expect(
        openBindMount(provider({ imageName: image, extraArgs: ["--no-such-flag"] }), { runId }),
      ).rejects.toThrow(SandboxError);
      const { sandbox } = shared;
      const again = openBindMount(provider({ imageName: image }), { runId, sandboxName: sandbox.name });
      await expect(again).rejects.toThrow(SandboxError);
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      expect(containersOf(engine, runId)).toEqual([sandbox.name]);
    });

    test("an abort while the container is being made removes it", async () => {
      const reason = new Error("changed my mind");
      const aborted = openBindMount(provider({ imageName: image }), {
        runId,
        signal: AbortSignal.abort(reason),
      });
      await expect(aborted).rejects.toBe(reason);
      const controller = new AbortController();
      const attempt = openBindMount(provider({ imageName: image }), { runId, signal: controller.signal });
      setImmediate(() => controller.abort(reason));
      await expect(attempt).rejects.toBe(reason);
      expect(containersOf(engine, runId)).toEqual([shared.sandbox.name]);
    });
  });
}
