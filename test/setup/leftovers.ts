import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

/** A run of the tests, as it is written down. */
export interface Run {
  /** Processes, containers and mounts of the tests are known by this path. */
  readonly directory: string;
  /** TMPDIR of the tests, below it. */
  readonly temporary: string;
  /** Of the test runner. */
  readonly pid: number;
  readonly startedAt: string;
  readonly runnerDirectories: readonly string[];
  /** The users, images, volumes and networks that there were, by kind. */
  readonly before: Readonly<Record<string, readonly string[]>>;
}

interface Leftover {
  readonly what: string;
  remove(): Promise<void>;
}

const execute = promisify(execFile);
const CHECKOUT_LOCK = resolve(".cache/build.lock");

/** Made by the tests' own set-up, and used until the end. */
const SET_UP = /^sanddune-(guard|template)-/;

/** Lines of an engine's answer; none if there is no such engine. */
const lines = async ([program = "", ...args]: readonly string[]) => {
  try {
    const { stdout } = await execute(program, args, { cwd: "/", maxBuffer: 2 ** 26, timeout: 30_000 });
    return stdout.split("\n").filter(Boolean);
  } catch {
    return [];
  }
};

/** Docker, Podman, and the Podman of the tests' ordinary user. */
const engines = (): string[][] => {
  const asTestUser = process.env["SANDDUNE_AS_TEST_USER"];
  return [["docker"], ["podman"], ...(asTestUser === undefined ? [] : [[asTestUser, "podman"]])];
};

const KINDS = {
  image: ["image", "ls", "--format", "{{.Repository}}:{{.Tag}}"],
  volume: ["volume", "ls", "--format", "{{.Name}}"],
  network: ["network", "ls", "--format", "{{.Name}}"],
};

const usersNow = (): string[] =>
  readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":")[0] ?? "");

/** What is shared by all who use this machine, and known by name only. */
export const sharedThings = async (): Promise<Record<string, string[]>> => {
  const asked = engines().flatMap((engine) =>
    Object.entries(KINDS).map(async ([kind, args]) => [
      `${engine.join(" ")} ${kind}`,
      await lines([...engine, ...args]),
    ]),
  );
  return Object.fromEntries([...(await Promise.all(asked)), ["user", usersNow()]]);
};

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

const linkOf = (path: string) => {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
};

const parentOf = (pid: number) => {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
};

/** This process, the test runner, all that they have been started by, and what the test runner itself needs. */
const isOurs = (pid: number, run: Run) => {
  for (let ancestor = process.pid; ancestor > 1; ancestor = parentOf(ancestor))
    if (ancestor === pid) return true;
  return (
    pid === run.pid ||
    (parentOf(pid) === run.pid && /vitest|esbuild|reaper/.test(read(`/proc/${pid}/cmdline`)))
  );
};

const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
};

const pids = (): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Whether the process has the path on its command line, in its environment, or works in it. */
const mentions = (pid: number, path: string): boolean =>
  [read(`/proc/${pid}/cmdline`), read(`/proc/${pid}/environ`), linkOf(`/proc/${pid}/cwd`)].some((text) =>
    text.includes(path),
  );

const processes = (run: Run): Leftover[] =>
  pids()
    .filter((pid) => mentions(pid, run.directory) && !isOurs(pid, run))
    .map((pid) => {
      const argv = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
      return { what: `process ${pid}: ${argv.slice(0, 200)}`, remove: async () => kill(pid) };
    });

const containers = async (run: Run): Promise<Leftover[]> => {
  const found = engines().map(async (engine) => {
    const ids = await lines([...engine, "ps", "--all", "--quiet", "--no-trunc"]);
    const described = ids.map(async (id) => {
      const [inspected = ""] = await lines([...engine, "inspect", "--format", "{{json .}}", id]);
      if (!inspected.includes(run.directory)) return [];
      const remove = async () => void (await lines([...engine, "rm", "--force", "--volumes", id]));
      return [{ what: `${engine.join(" ")} container ${JSON.parse(inspected).Name}`, remove }];
    });
    return (await Promise.all(described)).flat();
  });
  return (await Promise.all(found)).flat();
};

const mounts = (run: Run): Leftover[] =>
  read("/proc/self/mountinfo")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path.startsWith(`${run.directory}/`))
    .map((path) => ({
      what: `mount ${path}`,
      remove: async () => void (await lines(["umount", "--lazy", path])),
    }));

/** Directories of test runs beside this one. */
const otherRuns = (run: Run) =>
  readdirSync(dirname(run.directory)).filter(
    (name) =>
      name.startsWith("sanddune-run-") &&
      join(dirname(run.directory), name) !== run.directory &&
      existsSync(join(dirname(run.directory), name, "run.json")),
  );

const newThings = async (run: Run): Promise<Leftover[]> => {
  // Whose they are could not be said.
  if (otherRuns(run).length > 0) return [];
  return Object.entries(await sharedThings()).flatMap(([kind, names]) =>
    names
      .filter((name: string) => !run.before[kind]?.includes(name))
      .map((name: string) => ({
        what: `${kind} ${name}`,
        remove: async () => {
          const [program = "", ...args] = kind.split(" ");
          if (kind !== "user") await lines([program, ...args, "rm", "--force", name]);
        },
      })),
  );
};

const files = (run: Run): Leftover[] => {
  const removing = (path: string) => ({
    what: path,
    remove: async () => rmSync(path, { recursive: true, force: true }),
  });
  const own = existsSync(run.temporary) ? readdirSync(run.temporary) : [];
  return own.filter((name) => !SET_UP.test(name)).map((name) => removing(join(run.temporary, name)));
};

/**
 * Where the tests have no business: reported, and not removed, since it may be somebody else's after all. What a
 * process uses is.
 */
const strays = (run: Run): Leftover[] => {
  if (otherRuns(run).length > 0) return [];
  const isNew = (path: string) =>
    (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) > Date.parse(run.startedAt);
  return readdirSync("/tmp")
    .filter((name) => /^\.?sanddune/.test(name) && !/^sanddune(-run-|\.)/.test(name))
    .map((name) => join("/tmp", name))
    .concat(CHECKOUT_LOCK)
    .filter((path) => isNew(path) && !pids().some((pid) => mentions(pid, path)))
    .map((path) => ({ what: path, remove: async () => {} }));
};

/** Everything, processes first: they could make more of the rest. */
export const findLeftovers = async (run: Run): Promise<Leftover[]> => [
  ...processes(run),
  ...(await containers(run)),
  ...mounts(run),
  ...(await newThings(run)),
  ...files(run),
  ...strays(run),
];

/** Removes what is left, with the directory of the run. */
export const removeLeftovers = async (run: Run): Promise<void> => {
  for (const leftover of await findLeftovers(run)) await leftover.remove();
  rmSync(run.directory, { recursive: true, force: true });
};

/** The same for a test runner that is dead. */
export const removeDeadRun = async (run: Run): Promise<void> => {
  await removeLeftovers(run);
  for (const path of run.runnerDirectories) rmSync(path, { recursive: true, force: true });
};
