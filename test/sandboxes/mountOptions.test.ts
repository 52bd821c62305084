import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { InvalidOptionsError } from "../../src/errors.ts";
import { type MountOption, resolveMounts } from "../../src/sandboxes/mountOptions.ts";

let directory: string;
let home: string;
let repositoryPath: string;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-mounts-")));
  home = join(directory, "users", "me");
  repositoryPath = join(home, "repo");
  await mkdir(join(repositoryPath, "cache"), { recursive: true });
  await writeFile(join(directory, "docker.sock"), "");
  vi.stubEnv("HOME", home);
  vi.stubEnv("DOCKER_HOST", `unix://${directory}/docker.sock`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

const resolved = (mount: MountOption, allowUnsafeMounts = false) =>
  resolveMounts([mount], { repositoryPath, allowUnsafeMounts });

test("host paths may be absolute, relative to the repository, or begin with ~", async () => {
  for (const hostPath of [join(repositoryPath, "cache"), "cache", "./cache", "~/repo/cache"]) {
    expect(await resolved({ hostPath, sandboxPath: "/cache" })).toEqual([
      { hostPath: join(repositoryPath, "cache"), sandboxPath: "/cache", readOnly: false },
    ]);
  }
});

test("missing host paths and relative sandbox paths are refused by name", async () => {
  await expect(resolved({ hostPath: "nowhere", sandboxPath: "/x" })).rejects.toThrow(
    /nowhere does not exist/,
  );
  await expect(resolved({ hostPath: "cache", sandboxPath: "x" })).rejects.toThrow(InvalidOptionsError);
});

test("the home directory, what contains it, and the engine's socket are refused unless asked for by name", async () => {
  await symlink(home, join(directory, "alias"));
  const unsafe = [
    "~",
    "~/",
    "..",
    home,
    dirname(home),
    "/",
    join(directory, "alias"),
    join(directory, "docker.sock"),
  ];
  for (const hostPath of unsafe) {
    await expect(resolved({ hostPath, sandboxPath: "/x" }), hostPath).rejects.toThrow(/allowUnsafeMounts/);
    await expect(resolved({ hostPath, sandboxPath: "/x" }, true)).resolves.toHaveLength(1);
  }
});

test("a sibling whose name begins like the home directory's is no home directory", async () => {
  await mkdir(`${home}-other`);
  await expect(resolved({ hostPath: `${home}-other`, sandboxPath: "/x" })).resolves.toHaveLength(1);
});
