import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isRunning, type ProcessIdentity } from "../../src/process/kill/processIdentity.ts";

/** A run of the tests. */
export interface Run {
  /** Processes, containers and mounts of the tests are known by this path, images by its last six characters. */
  readonly directory: string;
  /** The test runner. */
  readonly owner: ProcessIdentity;
  /** Where the test runner has files of its own, which it removes unless it is killed. */
  readonly runnerDirectories: readonly string[];
}

const MEMORY = "/dev/shm";
/** A complete run takes less than a quarter of it. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

const memoryIsUsable = (): boolean => {
  try {
    const mount = readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === MEMORY);
    const [, , type, options = ""] = mount?.split(" ") ?? [];
    const { bavail, bsize } = statfsSync(MEMORY);
    accessSync(MEMORY, constants.W_OK);
    return type === "tmpfs" && !options.split(",").includes("noexec") && bavail * bsize >= ENOUGH_BYTES;
  } catch {
    return false;
  }
};

/** Where runs are. Tests make and remove small files all the time: in memory, that takes a third less system time. */
const BASE = process.env["TMPDIR"] ?? (memoryIsUsable() ? MEMORY : tmpdir());

const PREFIX = "sanddune-run-";
const RECORD = "run.json";

/** TMPDIR of the tests. */
export const temporaryOf = (run: Run): string => join(run.directory, "tmp");

export const idOf = (run: Run): string => basename(run.directory).slice(PREFIX.length);

/** Holds the id in the environment of the tests, which put it into the names of what outlives a process. */
export const RUN_VARIABLE = "SANDDUNE_TEST_RUN";

export const makeRun = (id: string, record: Omit<Run, "directory">): Run => {
  const run = { directory: join(BASE, `${PREFIX}${id}`), ...record };
  mkdirSync(run.directory);
  // Tests become other users, which use it as they use /tmp.
  chmodSync(run.directory, 0o755);
  const path = join(run.directory, RECORD);
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
  return run;
};

/** `undefined` if that is no directory of a run, or one that is being made or removed right now. */
export const readRun = (directory: string): Run | undefined => {
  try {
    return { ...JSON.parse(readFileSync(join(directory, RECORD), "utf8")), directory };
  } catch {
    return undefined;
  }
};

const runsIn = (directory: string): Run[] =>
  readdirSync(directory)
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => readRun(join(directory, name)) ?? []);

/** Other runs on this machine that are under way. */
export const otherRuns = (run: Run): Run[] =>
  runsIn(join(run.directory, "..")).filter(
    ({ directory, owner }) => directory !== run.directory && isRunning(owner),
  );

/** Runs of this user that were killed. Another user could make root remove anything. */
export const deadRuns = (): Run[] =>
  runsIn(BASE).filter(
    ({ directory, owner }) =>
      statSync(directory, { throwIfNoEntry: false })?.uid === process.getuid?.() && !isRunning(owner),
  );
