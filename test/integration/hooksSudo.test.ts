import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type SandboxHook, type SandboxProvider, SandboxUnavailableError } from "../../src/index.ts";
import { bubblewrap } from "../../src/sandboxes/bubblewrap.ts";
import { testIsolated } from "../../src/sandboxes/test-isolated.ts";
import { bundle } from "../helpers/bundle.ts";
import { temporaryRepository } from "../helpers/repository.ts";
import {
  AS_TEST_USER,
  describeWith,
  isRoot,
  type Runtime,
  TEST_IMAGE,
  TEST_USER,
} from "../helpers/runtimes.ts";
import { failureOf, play, STRATEGIES, userRefs } from "../security/support.ts";

vi.setConfig({ testTimeout: 120_000 });
let directory: string;
let program: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sanddune-test-sudo-"));
  await chmod(directory, 0o755);
  program = bundle(join(import.meta.dirname, "hooksSudoRun.ts"), directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Outcome {
  readonly report: string[];
  readonly warnings: string[];
  /** What is in the worktree that was kept. */
  readonly preserved: string[] | null;
  /** How another run on the branch ended. */
  readonly nextRun: string | null;
  /** How the run failed. */
  readonly error?: string;
}
type Engine = "docker" | "podman";

const runAs = async (
  become: readonly string[],
  engine: Engine,
  hooks: readonly SandboxHook[],
  report: string,
  isFollowed = false,
): Promise<Outcome> => {
  // Made by the one who runs the tests, who can remove whatever will be in it.
  const parent = await mkdtemp(join(directory, "run-"));
  await chmod(parent, 0o1777);
  const args = [program, engine, join(parent, "repository"), JSON.stringify({ hooks, report, isFollowed })];
  const [first, ...rest] = [...become, process.execPath, ...args];
  const { stdout } = await promisify(execFile)(first as string, rest, {
    cwd: "/",
    env: { ...process.env, SANDDUNE_TEST_IMAGE: TEST_IMAGE, TMPDIR: tmpdir() },
  });
  const outcome = JSON.parse(stdout) as Outcome;
  if (outcome.error !== undefined && !isFollowed) throw new Error(outcome.error);
  return outcome;
};

const asTestUser = ["runuser", "-u", TEST_USER, "--", "env", `HOME=/home/${TEST_USER}`];
/** A uid that neither the host nor the image knows, in the group that may use the daemon. */
const asUser501 = () => {
  const socket = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");
  const groups = `--groups=${statSync(socket).gid}`;
  return ["setpriv", "--reuid=501", "--regid=501", groups, "env", `HOME=${directory}`];
};

interface Caller {
  readonly title: string;
  readonly runtimes: Runtime[];
  readonly engine: Engine;
  readonly become: () => readonly string[];
  readonly isOrdinary: boolean;
}
const CALLERS: Caller[] = [
  { title: "docker", runtimes: ["docker"], engine: "docker", become: () => [], isOrdinary: !isRoot },
  { title: "podman", runtimes: ["podman"], engine: "podman", become: () => [], isOrdinary: !isRoot },
  {
    title: "docker, called by an ordinary user",
    runtimes: ["docker", "test user"],
    engine: "docker",
    become: () => asTestUser,
    isOrdinary: true,
  },
  {
    title: "docker, called by a user whom nobody knows",
    runtimes: ["docker", "test user"],
    engine: "docker",
    become: asUser501,
    isOrdinary: true,
  },
  {
    title: "rootless podman",
    runtimes: ["rootless podman"],
    engine: "podman",
    become: () => [AS_TEST_USER as string],
    isOrdinary: true,
  },
];

const uidOf = async (become: readonly string[]): Promise<string> => {
  const [first, ...rest] = [...become, "id", "-u"];
  return (await promisify(execFile)(first as string, rest, { cwd: "/" })).stdout.trim();
};

const BUILD_PACKAGE = `set -e
mkdir -p /tmp/tiny/DEBIAN /tmp/tiny/usr/bin
printf 'Package: tiny\\nVersion: 1\\nArchitecture: all\\nMaintainer: Dev <dev@example.com>\\nDescription: tiny\\n' > /tmp/tiny/DEBIAN/control
printf '#!/bin/sh\\nset -e\\nuseradd --system tiny\\ninstall -d -o tiny -m 700 /var/lib/tiny\\n' > /tmp/tiny/DEBIAN/postinst
printf '#!/bin/sh\\necho tiny works\\n' > /tmp/tiny/usr/bin/tiny
chmod 755 /tmp/tiny/DEBIAN/postinst /tmp/tiny/usr/bin/tiny
dpkg-deb --root-owner-group --build /tmp/tiny /tmp/tiny.deb`;

for (const { title, runtimes, engine, become, isOrdinary } of CALLERS) {
  describeWith(runtimes, `sudo in a sandbox of ${title}`, () => {
    it("makes a hook root, and only that hook", async () => {
      const { report } = await runAs(
        become(),
        engine,
        [
          { command: "id -u > /tmp/first" },
          { command: "id -u > /tmp/second; echo secret > /root-file; chmod 600 /root-file", sudo: true },
          { command: "id -u > /tmp/third", sudo: false },
        ],
        "cat /tmp/first /tmp/second /tmp/third; id -u",
      );
      const uid = await uidOf(become());
      expect(report).toEqual([uid, "0", uid, uid]);
    });

    it("installs packages, whose users and files are then there", async () => {
      const { report, warnings, preserved } = await runAs(
        become(),
        engine,
        [{ command: BUILD_PACKAGE }, { command: "apt-get install --yes /tmp/tiny.deb", sudo: true }],
        "tiny; stat -c '%U %a' /var/lib/tiny",
      );
      expect(report).toEqual(["tiny works", "tiny 700"]);
      expect({ warnings, preserved }).toEqual({ warnings: [], preserved: null });
    });

    it("can give files to the agent's user", async () => {
      const uid = await uidOf(become());
      const { report } = await runAs(
        become(),
        engine,
        [{ command: `mkdir /opt/given && chown ${uid} /opt/given`, sudo: true }],
        "touch /opt/given/file && echo mine",
      );
      expect(report).toEqual(["mine"]);
    });

    if (isOrdinary) {
      it("gives the agent no capabilities, and no way to get any", async () => {
        const { report } = await runAs(
          become(),
          engine,
          [
            {
              command: "echo secret > /secret; chmod 600 /secret; cp /bin/sh /suid-sh; chmod 4755 /suid-sh",
              sudo: true,
            },
          ],
          "grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status; cat /secret; /suid-sh -p -c 'id -u'; chown 0 report.txt; echo end",
        );
        const uid = await uidOf(become());
        const none = "0000000000000000";
        expect(report.slice(0, 5)).toEqual([
          `CapInh:\t${none}`,
          `CapPrm:\t${none}`,
          `CapEff:\t${none}`,
          `CapAmb:\t${none}`,
          "NoNewPrivs:\t1",
        ]);
        expect(report.slice(5)).toEqual([
          "cat: /secret: Permission denied",
          uid,
          expect.stringMatching(/chown.*Operation not permitted/),
          "end",
        ]);
      });

      it("leaves a branch that can be used again, although the hook that made files there was killed", async () => {
        const command = "mkdir -p ignored/deep && touch ignored/deep/file && sleep 600";
        const { error, nextRun } = await runAs(
          become(),
          engine,
          [{ command, sudo: true, timeoutMs: 3000 }],
          "true",
          true,
        );
        expect(error).toContain("HookFailedError");
        expect(nextRun).toBe("succeeded");
      });

      it("leaves a branch that can be used again, although there are files of root's in the worktree", async () => {
        const hooks = [{ command: "mkdir -p ignored/deep && touch ignored/deep/file", sudo: true }];
        const { report, nextRun } = await runAs(become(), engine, hooks, "ls ignored", true);
        expect(report).toEqual(["deep"]);
        expect(nextRun).toBe("succeeded");
      });
    }
  });
}

describeWith(["docker"], "without sudo in any hook, a docker sandbox", () => {
  it("has no capabilities at all, not even for root", async () => {
    const { report } = await runAs(
      [],
      "docker",
      [{ command: "true", sudo: false }],
      "grep CapBnd /proc/1/status",
    );
    expect(report).toEqual(["CapBnd:\t0000000000000000"]);
  });
});

for (const [name, runtimes, make] of [
  ["bubblewrap", ["bubblewrap"], () => bubblewrap()],
  ["test-isolated", [], () => testIsolated()],
] as [string, Runtime[], () => SandboxProvider][]) {
  describeWith(runtimes, `sudo in a ${name} sandbox`, () => {
    it("is refused before anything is created", async () => {
      const cwd = temporaryRepository();
      const before = userRefs(cwd);
      const error = await failureOf(
        play(cwd, [{ commit: "never" }], {
          sandbox: make(),
          branchStrategy: STRATEGIES.branch,
          hooks: {
            host: { onWorktreeReady: [{ command: `touch ${cwd}/hook-ran` }] },
            sandbox: { onSandboxReady: [{ command: "id", sudo: true }] },
          },
        }),
      );
      expect(error).toBeInstanceOf(SandboxUnavailableError);
      expect(error.message).toMatch(/no root user.*sudo.*docker or podman/s);
      expect(existsSync(join(cwd, ".sanddune"))).toBe(false);
      expect(existsSync(join(cwd, "hook-ran"))).toBe(false);
      expect(userRefs(cwd)).toBe(before);
    });
  });
}
