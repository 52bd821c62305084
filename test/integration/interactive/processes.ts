import { readdirSync, readFileSync, statSync } from "node:fs";
import { EXEC_ID_VARIABLE } from "../../../src/process/kill/processMarks.ts";

export interface Process {
  readonly pid: number;
  readonly environment: string;
  readonly commandLine: string;
  /** The devices or files that its standard streams are. */
  readonly streams: readonly string[];
}

/** Containers have terminals of the same names: only the device tells them apart. */
const identityOf = (path: string): string => {
  const { dev, ino, rdev } = statSync(path);
  return [dev, ino, rdev].join(":");
};

/** The processes of this machine, as far as this user may look at them. */
export const processes = (): Process[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
        const streams = [0, 1, 2].map((fd) => identityOf(`/proc/${pid}/fd/${fd}`));
        const commandLine = read("cmdline").replaceAll("\0", " ").trim();
        return [{ pid: Number(pid), environment: read("environ"), commandLine, streams }];
      } catch {
        return [];
      }
    });

export const carries = (value: string) => (one: Process) => one.environment.includes(`=${value}\0`);
export const uses = (tty: string) => {
  const identity = identityOf(tty);
  return (one: Process) => one.streams.includes(identity);
};

/** An env var's value that no other process of this machine has. */
export const uniqueMark = (): string => `mark-${process.pid}-${performance.now()}`;

/** Environments of the processes of this machine that have an env var with this value. */
export const environmentsWith = (value: string): string[] =>
  processes()
    .filter(carries(value))
    .map(({ environment }) => environment);

/** The files that a command on a terminal is started with, as far as processes know of them. */
export const startFilesOf = (environments: readonly string[]): string[] => [
  ...new Set(
    environments.flatMap((environment) => {
      const id = new RegExp(`${EXEC_ID_VARIABLE}=([0-9a-f]+)`).exec(environment)?.[1];
      const temporary = /(?:^|\0)TMPDIR=([^\0]+)/.exec(environment)?.[1] ?? "/tmp";
      return id === undefined ? [] : [`${temporary}/sanddune-${id}`];
    }),
  ),
];
