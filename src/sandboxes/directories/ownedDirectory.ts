import { appendFileSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killMarked } from "../../process/kill/killMarked.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "../../process/kill/processIdentity.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { parseJson } from "../../tools/json/parseJson.ts";
import { isText, objectWith, optional, type Predicate } from "../../tools/values/predicates.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { LeftSandbox } from "../leftovers.ts";
import { findLeftovers } from "../registry.ts";

const NAME = /^sanddune-(scenarios|standalone)-/;
const OWNER_FILE = "owner.json";
const SANDBOXES_FILE = "sandboxes.jsonl";
/** The provider name for commands on the host itself: only processes can be left behind. */
export const ON_HOST = "host";

/** A sandbox that a directory's owner has made, or was about to make. */
interface NotedSandbox {
  readonly provider: string;
  readonly sandboxName: string;
  readonly runId: string;
  /** As in `SandboxCreateOptions.onPlaced`. */
  readonly place?: string;
}

/**
 * A temporary directory that belongs to a process, for sandboxes that belong to no repository and so have no journal.
 * If the process dies, the next one that makes such a directory removes it with its sandboxes, and so does
 * `sanddune clean`.
 */
export interface OwnedDirectory {
  readonly path: string;
  readonly runId: string;
  /** Notes a sandbox before it is made, so that it is found if this process dies; called again when its place is known. */
  noteSandbox(provider: string, sandboxName: string, place?: string): void;
  /** Keeps the directory for the user, without an owner. */
  keep(): Promise<void>;
  /** Rejects if something cannot be removed; another process removes it when this one is dead. */
  remove(): Promise<void>;
  /** The same, after the noted sandboxes. */
  removeWithSandboxes(): Promise<void>;
}

/** The directory of a dead process. */
export interface DeadDirectory {
  readonly path: string;
  readonly runIds: readonly string[];
  /** Describes what is left. Rejects if that is unknown. */
  describe(signal: AbortSignal): Promise<string[]>;
  /** Removes the sandboxes, then the directory. */
  remove(signal: AbortSignal): Promise<void>;
}

const temporaryDirectory = (): Promise<string> => realpath(tmpdir());

/** The owner file is removed last, so that another process can finish an interrupted removal. */
const removeAll = async (path: string): Promise<void> => {
  for (const name of await readdir(path)) {
    if (name !== OWNER_FILE) await removeDirectory(join(path, name));
  }
  await removeDirectory(path);
};

/** Names of sandboxes become parts of paths. */
const isPlainName: Predicate = (name) => isText(name) && /^[\w.-]+$/.test(name);

const isNote = objectWith({
  sandboxName: isPlainName,
  runId: isPlainName,
  place: optional(isText),
}) as (value: unknown) => value is NotedSandbox;

const notedSandboxes = async (path: string): Promise<readonly NotedSandbox[]> => {
  const text = await readFile(join(path, SANDBOXES_FILE), "utf8").catch(() => "");
  // A process that died while it wrote leaves a torn last line.
  const notes = text.split("\n").map(parseJson).filter(isNote);
  return [...new Map(notes.map((note) => [note.sandboxName, note])).values()];
};

const leftSandbox = async ({ provider, ...sandbox }: NotedSandbox): Promise<LeftSandbox> => ({
  ...sandbox,
  temporaryDirectory: await temporaryDirectory(),
});

const describeSandbox = async (note: NotedSandbox, signal?: AbortSignal): Promise<string | undefined> =>
  (await findLeftovers(note.provider))?.find(await leftSandbox(note), signal);

const removeSandbox = async (note: NotedSandbox, signal?: AbortSignal): Promise<void> => {
  if (note.provider === ON_HOST) return killMarked({ name: SANDBOX_VARIABLE, value: note.sandboxName });
  if ((await describeSandbox(note, signal)) === undefined) return;
  await (await findLeftovers(note.provider))?.remove(await leftSandbox(note));
};

const removeWithSandboxes = async (path: string, signal?: AbortSignal): Promise<void> => {
  for (const sandbox of await notedSandboxes(path)) await removeSandbox(sandbox, signal);
  await removeAll(path);
};

/** Makes a temporary directory that this process owns. */
export const openOwnedDirectory = async (
  kind: "scenarios" | "standalone",
  runId: string,
): Promise<OwnedDirectory> => {
  const path = join(await temporaryDirectory(), `sanddune-${kind}-${runId}`);
  await mkdir(path, { mode: 0o700 });
  await writeFile(join(path, OWNER_FILE), JSON.stringify(ownIdentity()));
  return {
    path,
    runId,
    noteSandbox: (provider, sandboxName, place) => {
      const note: NotedSandbox = { provider, sandboxName, runId, ...(place !== undefined && { place }) };
      appendFileSync(join(path, SANDBOXES_FILE), `${JSON.stringify(note)}\n`);
    },
    keep: () => rm(join(path, OWNER_FILE), { force: true }),
    remove: () => removeAll(path),
    removeWithSandboxes: () => removeWithSandboxes(path),
  };
};

/** Other users can write to the temporary directory, too: links to foreign files, endless files. */
const isDead = async (path: string): Promise<boolean> => {
  const [directory, file] = await Promise.all([lstat(path), lstat(join(path, OWNER_FILE))]);
  if (!directory.isDirectory() || !file.isFile()) return false;

  if (process.getuid !== undefined && directory.uid !== process.getuid()) return false;
  const owner = JSON.parse(await readFile(join(path, OWNER_FILE), "utf8")) as ProcessIdentity;
  return !isRunning(owner);
};

const deadDirectory = async (path: string): Promise<DeadDirectory> => {
  const notes = await notedSandboxes(path);
  return {
    path,
    runIds: [...new Set(notes.map(({ runId }) => runId))],
    describe: async (signal) => {
      const found = await Promise.all(notes.map((note) => describeSandbox(note, signal)));
      return found.filter((text) => text !== undefined);
    },
    remove: (signal) => removeWithSandboxes(path, signal),
  };
};

/** Finds the directories of dead processes. One without an owner was kept for the user. */
export const findDeadDirectories = async (): Promise<DeadDirectory[]> => {
  const directory = await temporaryDirectory();
  const paths = (await readdir(directory))
    .filter((name) => NAME.test(name))
    .map((name) => join(directory, name));
  const found = await Promise.all(
    paths.map(async (path) => {
      // Another process may remove it meanwhile.
      const dead = await isDead(path).catch(() => false);
      return dead ? [await deadDirectory(path)] : [];
    }),
  );
  return found.flat();
};

/** The limit for the removal of others' directories: an engine may be down, or a service may not answer. */
const TIDYING_MS = 5000;

/** Removes the directories of killed processes. What cannot be removed now is left to the next call. Never rejects. */
export const removeDeadDirectories = async (signal?: AbortSignal): Promise<void> => {
  const removeAllDead = async (given: AbortSignal): Promise<void> => {
    const found = await findDeadDirectories();
    // Another process may be removing it.
    await Promise.all(found.map((directory) => directory.remove(given).catch(() => {})));
  };
  await inTime(removeAllDead, { timeoutMs: TIDYING_MS, signal }).catch(() => {});
};
