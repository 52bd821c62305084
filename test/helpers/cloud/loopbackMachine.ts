import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { copyTree } from "../../../src/process/copyTree.ts";
import { killMarked } from "../../../src/process/kill/killMarked.ts";
import { SANDBOX_VARIABLE } from "../../../src/process/kill/processMarks.ts";

export type LoopbackProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** What a loopback server has in the place of a machine in somebody's cloud: a temporary directory on this one. */
export interface LoopbackMachine {
  readonly directory: string;
  readonly home: string;
  /** Starts a program in a session of its own, which nothing ends but itself and `destroy`. */
  start(
    argv: readonly string[],
    options?: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
  ): LoopbackProcess;
  /** Copies the files, for other machines. */
  keep(): Promise<string>;
  /** Kills everything that was started, with all descendants; then the files go, too. */
  destroy(): Promise<void>;
}

const isRoot = process.getuid?.() === 0;
/** Whoever is not root can be it in a user namespace, where the machine allows that: to a command, it looks the same. */
const IN_NAMESPACE = ["unshare", "--map-root-user", "--"] as const;
let hasNamespaces: boolean | undefined;

export const NO_ROOT = "nobody but root can run commands as root on this machine";

/** An argv that runs as root, as in the machines of clouds; `undefined` if that is not possible. */
export const asRoot = (argv: readonly string[]): readonly string[] | undefined => {
  if (isRoot) return argv;
  const [program, ...args] = IN_NAMESPACE;
  hasNamespaces ??= spawnSync(program, [...args, "true"]).status === 0;
  return hasNamespaces ? [...IN_NAMESPACE, ...argv] : undefined;
};

/** Copies a directory that commands may still write to, with the pipes of those commands. */
const copyAll = async (directory: string): Promise<string> => {
  const kept = await mkdtemp(join(tmpdir(), "sanddune-cloud-kept-"));
  await copyTree(directory, kept);
  return kept;
};

/** Holds the files that a server keeps of its machines. Some may arrive when nobody waits for them any more. */
export const createKeeper = () => {
  const kept = new Set<Promise<string>>();
  return {
    keep: (machine: LoopbackMachine): Promise<string> => {
      const files = machine.keep();
      kept.add(files);
      return files;
    },
    removeAll: async (): Promise<void> => {
      for (const files of await Promise.allSettled(kept)) {
        if (files.status === "fulfilled") await rm(files.value, { recursive: true, force: true });
      }
    },
  };
};

/** A new machine, with the files that `keep` of another one has copied; in the place of one that is destroyed, if that is given. */
export const createLoopbackMachine = async (keptFiles?: string, place?: string): Promise<LoopbackMachine> => {
  const directory = place ?? (await realpath(await mkdtemp(join(tmpdir(), "sanddune-cloud-"))));
  const home = join(directory, "home");
  if (keptFiles === undefined) await mkdir(home);
  else await copyTree(keptFiles, directory);
  const mark = randomBytes(8).toString("hex");
  const own = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: home, [SANDBOX_VARIABLE]: mark };
  return {
    directory,
    home,
    start: ([program = "", ...args], { cwd = home, env = {} } = {}) => {
      const child = spawn(program, args, {
        cwd,
        env: { ...own, ...env },
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
      });
      child.stdin.on("error", () => {});
      return child;
    },
    keep: () => copyAll(directory),
    destroy: async () => {
      await killMarked({ name: SANDBOX_VARIABLE, value: mark });
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
