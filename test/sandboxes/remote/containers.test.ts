import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SandboxLostError, SandboxUnavailableError } from "../../../src/errors.ts";
import type { RemoteContainerOptions } from "../../../src/sandboxes/containers/options.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../../../src/sandboxes/contract.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { bundle } from "../../helpers/bundle.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { makeCertificates } from "../../helpers/runtimes/certificates.ts";
import { dockerSocket, useSshd, useTcpRelay } from "../../helpers/runtimes/remoteEngines.ts";
import { describeWith, TEST_IMAGE, TEST_USER_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { openTcpRelay } from "../../helpers/runtimes/tcpRelay.ts";
import { callClient, containersOf, inspectContainer } from "../containers/containers.ts";
import { newSandboxName } from "../openSandbox.ts";

const TIMEOUT_MS = 120_000;
/** The shortest, which has the fastest heartbeat. */
const LEASE_MS = 10_000;

const failureOf = async (attempt: Promise<unknown> | undefined): Promise<SandboxLostError> => {
  const error = await Promise.resolve(attempt).then(
    (result) => result,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxLostError);
  return error as SandboxLostError;
};

describeWith(["docker"], "docker sandboxes on another machine", () => {
  const relay = useTcpRelay();
  const runId = `run-${randomBytes(6).toString("hex")}`;
  afterAll(() => {
    expect(containersOf("docker", runId)).toEqual([]);
  });

  /** For tests that want nothing unusual, and do not end it. */
  let shared: IsolatedSandboxHandle;
  beforeAll(async () => {
    shared = await open();
  });
  afterAll(() => shared.close());

  const open = (
    settings: Partial<RemoteContainerOptions> = {},
    options: Partial<SandboxCreateOptions> = {},
  ) =>
    docker({ imageName: TEST_IMAGE, host: relay().address, ...settings }).create({
      runId,
      sandboxName: newSandboxName(),
      repositoryPath: "/some/repository",
      ...options,
    });

  test("are as tight as those of this machine, see no file of it, and say whose they are", async () => {
    const sandbox = await open({ memory: "256m", cpus: 0.5, pids: 100 });
    try {
      const { HostConfig, Config, Mounts } = inspectContainer("docker", sandbox.name);
      expect(HostConfig).toMatchObject({
        Memory: 256 * 1024 * 1024,
        NanoCpus: 5e8,
        PidsLimit: 100,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        AutoRemove: true,
        Binds: null,
      });
      expect(Mounts).toEqual([]);
      const labels = Config?.["Labels"] as Record<string, string>;
      expect(labels).toMatchObject({ "sanddune.run": runId, "sanddune.repository": "/some/repository" });
      expect(labels["sanddune.owner"]).toMatch(new RegExp(`:${process.pid}$`));
      expect(Date.parse(labels["sanddune.expires"] ?? "")).toBeGreaterThan(Date.now());
      const { stdout } = await sandbox.exec("grep -E 'CapEff|NoNewPrivs' /proc/self/status");
      expect(stdout.replace(/\s+/g, " ")).toBe("CapEff: 0000000000000000 NoNewPrivs: 1 ");
    } finally {
      await sandbox.close();
    }
  });

  test("run commands as the image's user, or as whom they are told to", async () => {
    const users = [
      { imageName: TEST_IMAGE, is: "0 root /root" },
      { imageName: TEST_USER_IMAGE, is: "1000 agent /home/agent" },
      { imageName: TEST_IMAGE, user: "501:20", is: "501 sanddune /sanddune/home" },
    ];
    for (const { is, ...settings } of users) {
      const sandbox = await open(settings);
      try {
        const said = await sandbox.exec('touch file "$HOME/file" && echo "$(id -u) $(id -un) $HOME"');
        expect({ ...settings, stdout: said.stdout, stderr: said.stderr }).toEqual({
          ...settings,
          stdout: `${is}\n`,
          stderr: "",
        });
        const { stdout: owner } = await sandbox.exec("stat -c %u . file");
        expect(new Set(owner.trim().split("\n"))).toEqual(new Set([is.split(" ")[0]]));
      } finally {
        await sandbox.close();
      }
    }
  });

  test("are made where `host` says, whatever the environment says, which stays as it is", async () => {
    vi.stubEnv("DOCKER_HOST", "unix:///no/such/docker.sock");
    vi.stubEnv("DOCKER_CONTEXT", "no-such-context");
    const before = { ...process.env };
    try {
      const sandbox = await open();
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      await sandbox.close();
      expect({ ...process.env }).toEqual(before);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("tell where they are before they are made, and are not made if that cannot be noted", async () => {
    const sandboxName = newSandboxName();
    const places: string[] = [];
    const onPlaced = (place: string) => {
      places.push(place);
      expect(callClient("docker", "ps", "--all", "--filter", `name=${sandboxName}`, "--quiet")).toBe("");
      throw new Error("the disk is full");
    };
    await expect(open({}, { sandboxName, onPlaced })).rejects.toThrow("the disk is full");
    expect(places).toEqual([relay().address]);
  });

  test.each([
    ["before anything is done", 0],
    ["while the engine is asked", 1],
    ["once it is placed", 2],
  ])("leave nothing when they are aborted %s", async (_, moment) => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const abort = () => controller.abort(reason);
    if (moment === 0) abort();
    const begun = relay().connections();
    const attempt = open({}, { signal: controller.signal, ...(moment === 2 && { onPlaced: abort }) });
    const settled = attempt.then(
      () => "opened",
      (error: unknown) => error,
    );
    if (moment === 1) {
      await waitFor(() => relay().connections() > begun);
      abort();
    }
    expect(await settled).toBe(reason);
    expect(containersOf("docker", runId)).toEqual([shared.name]);
  });

  test("are lost when their container is removed", async () => {
    const sandbox = await open();
    try {
      let isRemoved = false;
      const attempt = sandbox.exec("echo running; sleep 1000", {
        onLine: () => {
          if (isRemoved) return;
          isRemoved = true;
          callClient("docker", "rm", "--force", sandbox.name);
        },
      });
      expect((await failureOf(attempt)).problem).toMatch(/no longer exists/);
    } finally {
      await sandbox.close();
    }
  });

  test("continue a command whose connection breaks, and lose none of its output", async () => {
    const lines: string[] = [];
    const { exitCode } = await shared.exec("for i in 1 2 3 4 5; do echo $i; sleep 0.3; done; exit 3", {
      onLine: (line) => {
        lines.push(line);
        if (line !== "2") return;
        relay().cut();
        setTimeout(() => relay().mend(), 500);
      },
    });
    expect({ exitCode, lines }).toEqual({ exitCode: 3, lines: ["1", "2", "3", "4", "5"] });
  });

  test("are lost when the connection stays broken in the middle of a command, and never a failed command", async () => {
    const sandbox = await open({ leaseMs: LEASE_MS });
    try {
      const attempt = sandbox.exec("echo running; sleep 1000", { onLine: () => relay().cut() });
      const error = await failureOf(attempt);
      expect(error.message).toContain(relay().address);
      await failureOf(sandbox.exec("true"));
    } finally {
      relay().mend();
      await sandbox.close();
    }
  });

  test("start a command once, although the connection breaks when it is about to start", async () => {
    relay().cutAt(`/containers/${shared.name}/exec `);
    expect((await shared.exec("echo here >>started; cat started")).stdout).toBe("here\n");
  });

  test("cannot be closed while the engine is out of reach, which says how to do it by hand", async () => {
    const sandbox = await open();
    relay().cut();
    try {
      await expect(sandbox.close()).rejects.toThrow(
        `docker --host ${relay().address} rm --force ${sandbox.name}`,
      );
    } finally {
      relay().mend();
      callClient("docker", "rm", "--force", sandbox.name);
    }
  });

  // These take their time, and do it side by side.
  test.concurrent(
    "are lost when the network swallows everything",
    async () => {
      const own = await openTcpRelay(dockerSocket());
      const sandbox = await open({ host: own.address, leaseMs: LEASE_MS });
      try {
        const attempt = sandbox.exec("echo running; sleep 1000", { onLine: () => own.swallow() });
        expect((await failureOf(attempt)).problem).toMatch(/no longer answers/);
      } finally {
        own.cut();
        own.mend();
        await sandbox.close();
        await own.close();
      }
    },
    TIMEOUT_MS,
  );

  test.concurrent(
    "end by themselves when the process that made them is dead, and not while it lives",
    async ({ onTestFinished }) => {
      const kept = await open({ leaseMs: LEASE_MS });
      const directory = mkdtempSync(join(tmpdir(), "sanddune-orphan-"));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
      const program = bundle(join(import.meta.dirname, "../fixtures/orphanSandbox.ts"), directory);
      const orphansRun = `run-${randomBytes(6).toString("hex")}`;
      const options = { imageName: TEST_IMAGE, host: relay().address, leaseMs: LEASE_MS };
      const child = spawn(process.execPath, [program, JSON.stringify(options), orphansRun], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      const orphan = `sanddune-${orphansRun}`;
      expect(containersOf("docker", orphansRun)).toEqual([orphan]);
      const ended = promisify(execFile)("docker", ["wait", orphan], { timeout: 60_000 });
      child.kill("SIGKILL");
      await ended;
      await waitFor(() => containersOf("docker", orphansRun).length === 0);
      // Twice as long as it would have stayed without being renewed.
      const { Created } = inspectContainer("docker", kept.name) as unknown as { Created: string };
      await waitFor(() => Date.now() - Date.parse(Created) > 2 * LEASE_MS, 60_000);
      expect((await kept.exec("echo here")).stdout).toBe("here\n");
      await kept.close();
    },
    TIMEOUT_MS,
  );

  test.concurrent(
    "end when their lifetime is over, however often they are renewed, and what runs in them shortly before",
    async () => {
      const sandbox = await open({ leaseMs: LEASE_MS, lifetimeMs: 10_000 });
      const inTime = sandbox.exec("sleep 1000");
      await expect(inTime).rejects.toThrow(/its lifetime of 10 seconds is nearly over.*set `lifetimeMs`/);
      expect((await failureOf(sandbox.exec("sleep 1000"))).problem).toMatch(/no longer exists|ended/);
      await sandbox.close();
    },
    TIMEOUT_MS,
  );

  const preflight = (settings: RemoteContainerOptions) =>
    docker(settings).preflight?.({ repositoryPath: "/no/such/Repository" }) as Promise<void>;

  const unavailability = async (settings: RemoteContainerOptions): Promise<SandboxUnavailableError> => {
    const error = await preflight(settings).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    return error as SandboxUnavailableError;
  };

  test("are known to be possible before a run, or what is missing is", async () => {
    await preflight({ imageName: TEST_IMAGE, host: relay().address });
    const noImage = await unavailability({ host: relay().address });
    expect(noImage.problem).toBe(`there is no image sanddune:repository at ${relay().address}`);
    expect(noImage.hint).toContain(`docker save sanddune:repository | docker --host ${relay().address} load`);
    const nobody = await unavailability({ host: "tcp://127.0.0.1:1" });
    expect(nobody.problem).toContain("the docker engine at tcp://127.0.0.1:1 does not answer");
    expect(nobody.hint).toBe("Check with: docker --host tcp://127.0.0.1:1 info");
  });

  test("are reached over TLS with the certificates that the client has, and not without", async () => {
    const certificates = makeCertificates(temporaryDirectory());
    const own = await openTcpRelay(dockerSocket(), {
      ...certificates.ofServer,
      requestCert: true,
      rejectUnauthorized: true,
    });
    try {
      const settings = { imageName: TEST_IMAGE, host: own.address };
      vi.stubEnv("DOCKER_TLS_VERIFY", "1");
      vi.stubEnv("DOCKER_CERT_PATH", certificates.clientPath);
      await preflight(settings);
      const sandbox = await open(settings);
      expect((await sandbox.exec("cat", { stdin: "here" })).stdout).toBe("here");
      await sandbox.close();
      vi.unstubAllEnvs();
      expect((await unavailability(settings)).problem).toContain(own.address);
    } finally {
      vi.unstubAllEnvs();
      await own.close();
    }
  });

  test("need one usable engine of several, and name all if there is none", async () => {
    await preflight({ imageName: TEST_IMAGE, host: ["tcp://127.0.0.1:1", relay().address] });
    const { message } = await unavailability({ host: ["tcp://127.0.0.1:1", relay().address] });
    expect(message).toContain("the docker engine at tcp://127.0.0.1:1 does not answer");
    expect(message).toContain(`there is no image sanddune:repository at ${relay().address}`);
  });
});

describeWith(["docker", "sshd"], "docker sandboxes over ssh", () => {
  const sshd = useSshd();
  const provider = (host = `${sshd().address}${dockerSocket()}`) => docker({ imageName: TEST_IMAGE, host });
  const open = () =>
    provider().create({ runId: "test-run", sandboxName: newSandboxName(), repositoryPath: "/repository" });

  let loginsBefore: number;
  let sandboxes: readonly [IsolatedSandboxHandle, IsolatedSandboxHandle];
  beforeAll(async () => {
    loginsBefore = sshd().logins();
    sandboxes = await Promise.all([open(), open()]);
  });
  afterAll(() => Promise.all(sandboxes.map((sandbox) => sandbox.close())));

  test("share one login, however many commands run at a time", async () => {
    const commands = sandboxes.flatMap((sandbox) =>
      Array.from({ length: 5 }, (_, index) => sandbox.exec(`sleep 0.5; echo ${index}`)),
    );
    const said = (await Promise.all(commands)).map(({ stdout }) => stdout.trim());
    expect(said.toSorted().join("")).toBe("0011223344");
    expect(sshd().logins() - loginsBefore).toBe(1);
  });

  test("survive a connection that broke while nothing ran", async () => {
    sshd().cut();
    await waitFor(() => sshd().clients() === 0);
    expect((await sandboxes[0].exec("echo here")).stdout).toBe("here\n");
  });

  test("continue a command whose connection breaks", async () => {
    const { stdout, exitCode } = await sandboxes[1].exec("echo one; sleep 1; echo two; exit 3", {
      onLine: (line) => {
        if (line === "one") sshd().cut();
      },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: "one\ntwo\n", exitCode: 3 });
  });

  test("need no certificates, although the client has some for others", async () => {
    vi.stubEnv("DOCKER_TLS_VERIFY", "1");
    vi.stubEnv("DOCKER_CERT_PATH", "/no/such/directory");
    try {
      const sandbox = await open();
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      await sandbox.close();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  test("cannot be had without a socket at the other end, or without a key", async () => {
    const errorOf = (host: string) =>
      provider(host)
        .preflight?.({ repositoryPath: "/" })
        .catch((error: unknown) => error);
    const noSocket = (await errorOf(`${sshd().address}/no/such.sock`)) as SandboxUnavailableError;
    expect(noSocket).toBeInstanceOf(SandboxUnavailableError);
    expect(noSocket.problem).toContain(`${sshd().address}/no/such.sock does not answer`);
    const noUser = (await errorOf(sshd().address.replace("ssh://", "ssh://no-such-user-x"))) as Error;
    expect(noUser).toBeInstanceOf(SandboxUnavailableError);
    expect(noUser.message).toMatch(/ssh cannot connect to .*Permission denied/);
  });
});
