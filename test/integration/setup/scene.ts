import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Hooks, RunResult } from "../../../src/index.ts";
import { cleanUp } from "../../../src/runs/clean/cleanUp.ts";
import { findRepository } from "../../../src/runs/findRepository.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";
import type { SandboxProvider } from "../../../src/sandboxes/contract.ts";
import type { MountOption } from "../../../src/sandboxes/mounts/resolveMounts.ts";
import { git, temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { mustSucceed, play } from "../../security/support.ts";

export type MakeSandbox = (mounts: readonly MountOption[]) => SandboxProvider;

/** A file outside of the sandbox that gets a line whenever a hook runs. */
export interface Counter {
  readonly path: string;
  readonly mounts: readonly MountOption[];
}

export const counter = (): Counter => {
  const directory = temporaryDirectory();
  return { path: join(directory, "count"), mounts: [{ hostPath: directory, sandboxPath: directory }] };
};

export const ranTimes = ({ path }: Counter): number =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;

/** A repository with a lock file, a package, and ignored `node_modules`. The images of its kept set-ups go with the test. */
export const packageRepository = (cwd = temporaryRepository()): string => {
  onTestFinished(async () => {
    await cleanUp(await findRepository(cwd), { remove: true, runs: [], branches: [], records: false });
  });
  mkdirSync(join(cwd, "packages/a"), { recursive: true });
  writeFileSync(join(cwd, "lock.json"), "1\n");
  writeFileSync(join(cwd, "packages/a/index.js"), "a\n");
  writeFileSync(join(cwd, ".gitignore"), "node_modules\n.env\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "--quiet", "-m", "A package");
  return cwd;
};

/** What an installer does: files in the worktree, in HOME, and in the sandbox itself. */
export const installing = ({ path }: Counter, files: number): string =>
  `echo ran >> ${path}
   mkdir -p node_modules/dep packages/a/node_modules && echo dep > node_modules/dep/index.js
   for n in $(seq ${files}); do echo "$n" > node_modules/dep/$n.js; done
   ln -s dep node_modules/link; echo x > packages/a/node_modules/x; mkdir node_modules/empty
   echo tool > "$HOME/tool"; echo made > /tmp/made`;

export const setupHook = (
  count: Counter,
  {
    files = 3,
    key = ["lock.json"],
    after = "",
  }: { files?: number; key?: readonly string[]; after?: string } = {},
): Hooks => ({
  sandbox: { onSandboxReady: [{ command: `${installing(count, files)}\n${after}`, cache: { key } }] },
});

export const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch } }) as const;

let runs = 0;

/** A repository, and runs in it with a hook that counts how often it runs, each on a branch of its own. */
export const setupScene = (cwd = packageRepository()) => {
  const count = counter();
  return {
    cwd,
    count,
    run: (options: object = {}, steps = [mustSucceed("test -e node_modules/dep/index.js")]) =>
      play(cwd, [...steps, { commit: "x" }], {
        ...onBranch(`agent/${++runs}`),
        sandbox: bubblewrap({ mounts: count.mounts }),
        hooks: setupHook(count),
        ...options,
      }),
  };
};

/** The snapshots of a repository's set-ups that docker has. */
export const imagesOf = (cwd: string): string[] =>
  execFileSync(
    "docker",
    ["image", "ls", "--all", "--quiet", "--filter", `label=sanddune.repository=${cwd}`],
    { encoding: "utf8" },
  )
    .split("\n")
    .filter(Boolean);

export const logOf = ({ logFilePath }: Pick<RunResult, "logFilePath">): string =>
  readFileSync(logFilePath, "utf8");

/** The entries of the cache, without drafts. */
export const kept = (cwd: string): string[] => {
  const directory = join(cwd, ".git/sanddune/setups");
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => !name.startsWith("."))
    .map((name) => join(directory, name));
};

/** Drafts that were left. */
export const drafts = (cwd: string): string[] => {
  const directory = join(cwd, ".git/sanddune/setups");
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith(".draft")) : [];
};
