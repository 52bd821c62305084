import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
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

export const createLoopbackMachine = async (): Promise<LoopbackMachine> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "sanddune-cloud-")));
  const home = join(directory, "home");
  await mkdir(home);
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
    destroy: async () => {
      await killMarked({ name: SANDBOX_VARIABLE, value: mark });
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
