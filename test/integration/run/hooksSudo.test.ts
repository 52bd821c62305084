import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SandboxHook, SandboxUnavailableError } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import { docker } from "../../../src/sandboxes/docker.ts";
import { testIsolated } from "../../../src/sandboxes/test-isolated.ts";
import { bundle } from "../../helpers/bundle.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";
import {
  AS_TEST_USER,
  describeWith,
  isRoot,
  type Runtime,
  TEST_IMAGE,
  TEST_USER,
} from "../../helpers/runtimes/runtimes.ts";
import { failureOf, play, STRATEGIES, shell, userRefs } from "../../security/support.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sanddune-test-sudo-"));
  await chmod(directory, 0o755);
  bundle(join(import.meta.dirname, "hooksSudoRun.ts"), directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Outcome {
  readonly report?: string[];
  readonly warnings?: string[];
  readonly preservedWorktreePath?: string;
  /** How the run failed. */
  readonly error?: string;
}
type Engine = "docker" | "podman";

interface Caller {
  readonly title: string;
  readonly runtimes: Runtime[];
  readonly engine: Engine;
  readonly become: () => readonly string[];
  readonly isOrdinary: boolean;
}

const asTestUser = ["runuser", "-u", TEST_USER, "--", "env", `HOME=/home/${TEST_USER}`];
/** A uid that neither the host nor the image knows, in the group that may use the daemon. */
const asUser501 = () => {
  const socket = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");
  const groups = `--groups=${statSync(socket).gid}`;
  return ["setpriv", "--reuid=501", "--regid=501", groups, "env", `HOME=${directory}`];
};

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

const call = async (argv: readonly string[], env = process.env): Promise<string> => {
  const [first, ...rest] = argv;
  return (await promisify(execFile)(first as string, rest, { cwd: "/", env })).stdout.trim();
};

/** Runs an agent on one branch, again and again, as somebody else: after these hooks, after the next ones, and so on. */
const runAs = async (
  { become, engine }: Caller,
  runs: readonly (readonly SandboxHook[])[],
  report: string,
): Promise<Outcome[]> => {
  // Made by the one who runs the tests, who can remove whatever will be in it.
  const parent = await mkdtemp(join(directory, "run-"));
  await chmod(parent, 0o1777);
  const task = JSON.stringify({ runs, report });
  const args = [join(directory, "hooksSudoRun.mjs"), engine, join(parent, "repository"), task];
  const env = { ...process.env, SANDDUNE_TEST_IMAGE: TEST_IMAGE, TMPDIR: tmpdir() };
  return JSON.parse(await call([...become(), process.execPath, ...args], env));
};

const BUILD_PACKAGE = `set -e
mkdir -p /tmp/tiny/DEBIAN /tmp/tiny/usr/bin
printf 'Package: tiny\\nVersion: 1\\nArchitecture: all\\nMaintainer: Dev <dev@example.com>\\nDescription: tiny\\n' > /tmp/tiny/DEBIAN/control
printf '#!/bin/sh\\nset -e\\nuseradd --system tiny\\ninstall -d -o tiny -m 700 /var/lib/tiny\\n' > /tmp/tiny/DEBIAN/postinst
printf '#!/bin/sh\\necho tiny works\\n' > /tmp/tiny/usr/bin/tiny
chmod 755 /tmp/tiny/DEBIAN/postinst /tmp/tiny/usr/bin/tiny
dpkg-deb --root-owner-group --build /tmp/tiny /tmp/tiny.deb`;

const MAKE_FILES = "mkdir -p ignored/deep && touch ignored/deep/file";
const AS_ROOT = `set -e
id -u > /tmp/second
echo secret > /secret; chmod 600 /secret
cp /bin/sh /suid-sh; chmod 4755 /suid-sh
mkdir /opt/given; chown "$(stat -c %u /tmp/first)" /opt/given
apt-get install --yes /tmp/tiny.deb
${MAKE_FILES}`;

const REPORT = `cat /tmp/first /tmp/second /tmp/third; id -u; tiny; stat -c '%U %a' /var/lib/tiny
touch /opt/given/file && echo mine; ls ignored
grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs' /proc/self/status
cat /secret; /suid-sh -p -c 'id -u'; chown 0 report.txt; echo end`;

for (const caller of CALLERS) {
  describeWith(caller.runtimes, `sudo in a sandbox of ${caller.title}`, () => {
    let uid: string;
    let killed: Outcome | undefined;
    let first: Outcome | undefined;
    let second: Outcome | undefined;
    let report: readonly string[];

    beforeAll(async () => {
      uid = await call([...caller.become(), "id", "-u"]);
      const hooks = [
        { command: `id -u > /tmp/first; ${BUILD_PACKAGE}` },
        { command: AS_ROOT, sudo: true },
        { command: "id -u > /tmp/third", sudo: false },
      ];
      if (caller.isOrdinary) {
        const hanging = { command: `${MAKE_FILES}; sleep 600`, sudo: true, timeoutMs: 1500 };
        [killed, first, second] = await runAs(caller, [[hanging], hooks, []], REPORT);
      } else {
        [first] = await runAs(caller, [hooks], REPORT);
      }
      report = first?.report ?? [];
    });

    it("makes a hook root, and only that hook", () => {
      expect(first?.error).toBeUndefined();
      expect(report.slice(0, 4)).toEqual([uid, "0", uid, uid]);
    });

    it("installs packages, whose users and files are then there", () => {
      expect(report.slice(4, 6)).toEqual(["tiny works", "tiny 700"]);
      expect(first?.warnings).toEqual([]);
      expect(first?.preservedWorktreePath).toBeUndefined();
    });

    it("can give files to the agent's user", () => {
      expect(report[6]).toBe("mine");
    });

    if (!caller.isOrdinary) return;

    it("gives the agent no capabilities, and no way to get any", () => {
      const none = "0000000000000000";
      expect(report.slice(8)).toEqual([
        `CapInh:\t${none}`,
        `CapPrm:\t${none}`,
        `CapEff:\t${none}`,
        `CapAmb:\t${none}`,
        "NoNewPrivs:\t1",
        "cat: /secret: Permission denied",
        uid,
        expect.stringMatching(/chown.*Operation not permitted/),
        "end",
      ]);
    });

    it("leaves a branch that can be used again, although there are files of root's in the worktree, whose hook was killed or not", () => {
      expect(killed?.error).toContain("HookFailedError");
      expect(report[7]).toBe("deep");
      expect(second?.error).toBeUndefined();
    });
  });
}

describeWith(["docker"], "without sudo in any hook, a docker sandbox", () => {
  it("has no capabilities at all, not even for root", async () => {
    const cwd = temporaryRepository();
    await play(cwd, [shell("grep CapBnd /proc/1/status > report.txt"), { commit: "Report" }], {
      sandbox: docker({ imageName: TEST_IMAGE }),
      branchStrategy: STRATEGIES.branch,
      hooks: { sandbox: { onSandboxReady: [{ command: "true", sudo: false }] } },
    });
    expect(git(cwd, "show", "agent/work:report.txt")).toBe("CapBnd:\t0000000000000000");
  });
});

describe("sudo where there is no root", () => {
  it.each([
    ["bubblewrap", bubblewrap()],
    ["test-isolated", testIsolated()],
  ])("is refused before anything is created: %s", async (_, sandbox) => {
    const cwd = temporaryRepository();
    const before = userRefs(cwd);
    const error = await failureOf(
      play(cwd, [{ commit: "never" }], {
        sandbox,
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
