import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle } from "../helpers/bundle.ts";
import { describeSideBySide } from "../helpers/processes/sideBySide.ts";
import { AS_TEST_USER, describeWith, TEST_IMAGE, TEST_USER } from "../helpers/runtimes/runtimes.ts";

/** Everything else runs as whoever runs the tests, which is root where containers are tested. */
const TIMEOUT_MS = 300_000;
let directory: string;
let script: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sanddune-ordinary-user-"));
  await chmod(directory, 0o755);
  script = bundle(join(import.meta.dirname, "fixtures/ordinaryUser.ts"), directory);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const failuresOf = async (program: string, args: readonly string[]): Promise<object[]> => {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: "/",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, SANDDUNE_TEST_IMAGE: TEST_IMAGE, TMPDIR: tmpdir() },
  });
  const results = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { name: string; failure: string | null });
  expect(results.length).toBeGreaterThan(3);
  return results.filter(({ failure }) => failure !== null);
};

/** Of engines that root uses as well, only what depends on the user. */
const DEPENDS_ON_USER = "HOME|sudo|binary|abort|close ends|missing program";
const DEPENDS_ON_UID = "HOME|sudo|binary";

const asTestUser = ["-u", TEST_USER, "--", "env", `HOME=/home/${TEST_USER}`, process.execPath];

/** A uid that neither the host nor the image knows, as on a Mac, in the group that may use the daemon. */
const asUser501 = (): string[] => {
  const socket = (process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");
  const group = statSync(socket).gid;
  return ["--reuid=501", "--regid=501", `--groups=${group}`, "env", `HOME=${directory}`, process.execPath];
};

// Each of them is another process, with engines of its own.
describeSideBySide("as somebody else than root,", () => {
  describeWith(["test user", "bubblewrap"], "an ordinary user", () => {
    test(
      "has bubblewrap sandboxes",
      async () => {
        expect(await failuresOf("runuser", [...asTestUser, script, "bubblewrap"])).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });

  describeWith(["test user", "bubblewrap"], "an agent of an ordinary user", () => {
    test(
      "cannot hide a repository by taking the right to list its directory away",
      async () => {
        const program = bundle(join(import.meta.dirname, "fixtures/hiddenRepository.ts"), directory);
        const place = await mkdtemp(join(directory, "place-"));
        await promisify(execFile)("chown", [TEST_USER, place]);
        const { stdout } = await promisify(execFile)("runuser", [...asTestUser, program, place], {
          cwd: "/",
        });
        expect(JSON.parse(stdout)).toEqual({
          hasRun: false,
          warnings: [expect.stringContaining("was renamed to")],
        });
      },
      TIMEOUT_MS,
    );
  });

  describeWith(["test user", "docker"], "an ordinary user of a docker daemon", () => {
    test(
      "has docker sandboxes",
      async () => {
        expect(await failuresOf("runuser", [...asTestUser, script, "docker", DEPENDS_ON_USER])).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });

  describeWith(["test user", "docker"], "a user with the uid 501", () => {
    test(
      "has docker sandboxes, whose files are theirs",
      async () => {
        expect(await failuresOf("setpriv", [...asUser501(), script, "docker", DEPENDS_ON_UID])).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });

  describeWith(["rootless podman"], "an ordinary user of rootless podman", () => {
    test(
      "has podman sandboxes",
      async () => {
        const args = [process.execPath, script, "podman", DEPENDS_ON_USER];
        expect(await failuresOf(AS_TEST_USER as string, args)).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
});
