import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidOptionsError } from "../../../src/errors.ts";
import { type MountOption, resolveMounts } from "../../../src/sandboxes/mounts/resolveMounts.ts";

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

test("relative host paths start at cwd, wherever that is in the repository", async () => {
  const cwd = join(repositoryPath, "packages/a");
  await mkdir(join(cwd, "data"), { recursive: true });
  const [inside, above] = await resolveMounts(
    [
      { hostPath: "data", sandboxPath: "/data" },
      { hostPath: "../../cache", sandboxPath: "/cache" },
    ],
    { repositoryPath, cwd, allowUnsafeMounts: false },
  );
  expect([inside?.hostPath, above?.hostPath]).toEqual([join(cwd, "data"), join(repositoryPath, "cache")]);
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

test.each([
  ".docker/run",
  ".colima/default",
  ".orbstack/run",
  ".rd",
  ".local/share/containers/podman/machine",
])(
  "a directory of the home directory in which a desktop engine puts its socket is refused: %s",
  async (path) => {
    await mkdir(join(home, path), { recursive: true });
    await expect(resolved({ hostPath: `~/${path}`, sandboxPath: "/x" })).rejects.toThrow(/engine's socket/);
  },
);

test("a sibling whose name begins like the home directory's is no home directory", async () => {
  await mkdir(`${home}-other`);
  await expect(resolved({ hostPath: `${home}-other`, sandboxPath: "/x" })).resolves.toHaveLength(1);
});

/** With real git: what it makes is what has to be recognised. */
const git = (...args: string[]) => execFileSync("git", args, { stdio: "pipe" });

describe("the repository's own data", () => {
  let worktree: string;

  beforeEach(async () => {
    git("init", "--quiet", repositoryPath);
    git(
      ...["-C", repositoryPath, "-c", "user.name=n", "-c", "user.email=e"],
      ...["commit", "--quiet", "--allow-empty", "--message", "x"],
    );
    worktree = join(directory, "linked");
    git("-C", repositoryPath, "worktree", "add", "--quiet", worktree);
    await mkdir(join(repositoryPath, ".sanddune", "worktrees", "a"), { recursive: true });
    await writeFile(join(repositoryPath, ".sanddune", ".env"), "TOKEN=secret\n");
    await symlink(join(repositoryPath, ".git"), join(repositoryPath, "cache", "link"));
    await symlink(".sanddune", join(repositoryPath, "settings"));
  });

  const OF_THE_CHECKOUT = [".", "./", "cache/..", "../repo", "~/repo"];
  const OF_GIT = [".git", ".git/hooks", ".git/config", "cache/../.git", "cache/link", "cache/link/objects"];
  const OF_SANDDUNE = [".sanddune", ".sanddune/.env", ".sanddune/worktrees/a", "settings", "settings/.env"];

  test.each([...OF_THE_CHECKOUT, ...OF_GIT, ...OF_SANDDUNE])(
    "%s is refused unless asked for by name, read-only or not",
    async (hostPath) => {
      for (const readOnly of [true, false]) {
        const mount = { hostPath, sandboxPath: "/x", readOnly };
        await expect(resolved(mount)).rejects.toMatchObject({
          name: "InvalidOptionsError",
          option: "mounts",
          message: expect.stringContaining("`allowUnsafeMounts: true`"),
        });
        await expect(resolved(mount, true)).resolves.toHaveLength(1);
      }
    },
  );

  test("in a linked worktree, so is what it shares with the others", async () => {
    const inWorktree = (hostPath: string) =>
      resolveMounts([{ hostPath, sandboxPath: "/x", readOnly: true }], {
        repositoryPath: worktree,
        allowUnsafeMounts: false,
      });
    const ownGitDirectory = join(repositoryPath, ".git", "worktrees", "linked");
    for (const hostPath of [
      ".",
      ".git",
      ownGitDirectory,
      repositoryPath,
      join(repositoryPath, ".sanddune"),
    ]) {
      await expect(inWorktree(hostPath), hostPath).rejects.toThrow(/allowUnsafeMounts/);
    }
    await expect(inWorktree(join(repositoryPath, "cache"))).resolves.toHaveLength(1);
  });

  test("another checkout, a nested repository and a bare one may be read, and not be written", async () => {
    const bare = join(directory, "bare");
    git("init", "--quiet", "--bare", bare);
    const nested = join(repositoryPath, "cache", "nested");
    git("init", "--quiet", nested);
    for (const hostPath of [worktree, nested, bare]) {
      await expect(resolved({ hostPath, sandboxPath: "/x" }), hostPath).rejects.toThrow(/allowUnsafeMounts/);
      await expect(resolved({ hostPath, sandboxPath: "/x", readOnly: true })).resolves.toHaveLength(1);
    }
    for (const hostPath of [join(nested, ".git"), join(bare, "hooks"), join(bare, "config")]) {
      await expect(resolved({ hostPath, sandboxPath: "/x", readOnly: true }), hostPath).rejects.toThrow(
        /data of a repository/,
      );
    }
    const inBare = join(bare, "checkout");
    git("-C", repositoryPath, "worktree", "add", "--quiet", inBare);
    await mkdir(join(inBare, "part"));
    await expect(resolved({ hostPath: join(inBare, "part"), sandboxPath: "/x" })).resolves.toHaveLength(1);
  });

  test("a directory of the checkout is not, and neither is one that is in no repository", async () => {
    for (const hostPath of ["cache", "~/repo/cache"]) {
      await expect(resolved({ hostPath, sandboxPath: "/x" })).resolves.toHaveLength(1);
    }
    const alone = join(directory, "alone");
    await mkdir(alone);
    await expect(
      resolveMounts([{ hostPath: ".", sandboxPath: "/x" }], {
        repositoryPath: alone,
        allowUnsafeMounts: false,
      }),
    ).resolves.toHaveLength(1);
  });
});
