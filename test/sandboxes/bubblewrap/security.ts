import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxHandle } from "../../../src/sandboxes/contract.ts";
import { openBindMount } from "../openSandbox.ts";

const HIDDEN = [
  "/root",
  "/home",
  "/run",
  "/var/lib",
  "/var/run/docker.sock",
  "/opt",
  "/srv",
  "/mnt",
  "/boot",
  "/sys",
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/ssh",
  "/etc/sudoers",
  "/etc/ssl/private",
  homedir(),
  process.env["DOCKER_HOST"]?.replace("unix://", "") ?? "/run/docker.sock",
];

const isRefused = async (sandbox: SandboxHandle, command: string): Promise<void> => {
  const result = await sandbox.exec(command);
  assert.notEqual(result.exitCode, 0, `${command} was not refused: ${result.stdout}`);
};

/** Connects, in bash, to a port of the host's loopback. */
const connect = (port: number): string => `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`;

const withServer = async (use: (port: number) => Promise<void>): Promise<void> => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
};

/** Attacks on the sandbox's boundary; the same for root and for an ordinary user. */
const attacks: Record<string, (sandbox: SandboxHandle) => Promise<void>> = {
  "the host's files are not there": async (sandbox) => {
    for (const path of HIDDEN) await isRefused(sandbox, `ls -d '${path}'`);
    const { stdout } = await sandbox.exec("ls -A /");
    const known = new Set("bin dev etc lib lib32 lib64 libx32 proc sanddune sbin tmp usr var".split(" "));
    assert.deepEqual(
      stdout.split("\n").filter((name) => name !== "" && !known.has(name)),
      [],
    );
  },
  "the host's programs cannot be changed": async (sandbox) => {
    for (const path of ["/usr/bin/sanddune", "/etc/passwd", "/bin/x", "/x", "/var/x"]) {
      await isRefused(sandbox, `echo x >>${path}`);
    }
    await isRefused(sandbox, "mount -o remount,rw /usr");
    await isRefused(sandbox, "umount /usr");
  },
  "the host's processes are not seen": async (sandbox) => {
    await isRefused(sandbox, `kill -0 ${process.pid}`);
    const { stdout } = await sandbox.exec("ls /proc | grep -c '^[0-9]'");
    assert.ok(Number(stdout) < 10, stdout);
    await isRefused(sandbox, "ls /proc/1/root/root/ && ls /proc/1/root/home");
  },
  "there are no capabilities, and no way to get them": async (sandbox) => {
    const { stdout } = await sandbox.exec("grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs' /proc/self/status");
    assert.equal(
      stdout.replace(/\s+/g, " "),
      "CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000 NoNewPrivs: 1 ",
    );
  },
  "there is no network": (sandbox) =>
    withServer(async (port) => {
      await isRefused(sandbox, connect(port));
      assert.match((await sandbox.exec("tail -n +3 /proc/net/dev")).stdout, /^\s*lo:[^\n]*\n$/);
    }),
  "the terminal of the host is out of reach": (sandbox) => isRefused(sandbox, ": </dev/tty"),
};

export const bubblewrapAttacks = [
  ...Object.entries(attacks).map(([name, attack]) => ({
    name,
    run: async () => {
      const { sandbox } = await openBindMount(bubblewrap());
      try {
        await attack(sandbox);
      } finally {
        await sandbox.close();
      }
    },
  })),
  ...([true, "host"] as const).map((network) => ({
    name: `the network is there when it is asked for by ${network}`,
    run: () =>
      withServer(async (port) => {
        const { sandbox } = await openBindMount(bubblewrap({ network }));
        try {
          assert.equal((await sandbox.exec(connect(port))).exitCode, 0);
        } finally {
          await sandbox.close();
        }
      }),
  })),
  ...([false, "none"] as const).map((network) => ({
    name: `there is no network with ${network}`,
    run: async () => {
      const { sandbox } = await openBindMount(bubblewrap({ network }));
      try {
        await attacks["there is no network"]?.(sandbox);
      } finally {
        await sandbox.close();
      }
    },
  })),
];
