import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Repository } from "../repository.ts";

/**
 * Written before git moves a checkout to a merged commit, and removed when the checkout is in a known state again. A
 * note that outlives its run records an interrupted merge.
 */
export interface MergeNote {
  /** Marks the git process that moves the checkout, which may outlive its parent. */
  readonly id: string;
  readonly runId: string;
  readonly sourceBranch: string;
  /** `undefined`: the detached HEAD of the checkout. */
  readonly targetBranch: string | undefined;
  readonly checkoutPath: string;
  readonly from: string;
  readonly to: string;
  /** Files of `from` that the user had deleted before the merge, as `latin1`. They are not restored. */
  readonly absent: readonly string[];
}

/** A note on disk, with its modification time. */
export interface FoundNote extends MergeNote {
  readonly path: string;
  readonly writtenAtMs: number;
  readonly device: number;
}

/** In the git directory, beside the locks: no commit can contain a note. */
const notesDirectory = ({ commonDirectory }: Pick<Repository, "commonDirectory">): string =>
  join(commonDirectory, "sanddune", "merging");

const noteName = (checkoutPath: string): string =>
  `${createHash("sha256").update(checkoutPath).digest("hex").slice(0, 20)}.json`;

const sync = (path: string): void => {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
};

const isNote = (value: unknown): value is MergeNote => {
  const note = (value ?? {}) as Record<string, unknown>;
  return (
    ["id", "runId", "sourceBranch", "checkoutPath"].every((key) => typeof note[key] === "string") &&
    ["from", "to"].every((key) => /^[0-9a-f]{40,64}$/.test(String(note[key]))) &&
    Array.isArray(note["absent"])
  );
};

const readNote = (path: string): FoundNote | undefined => {
  try {
    const note: unknown = JSON.parse(readFileSync(path, "utf8"));
    const { mtimeMs, dev } = statSync(path);
    return isNote(note) ? { ...note, path, writtenAtMs: mtimeMs, device: dev } : undefined;
  } catch {
    return undefined;
  }
};

/** Writes a note that survives a power cut. If it throws, the checkout must not be moved. */
export const writeNote = (repository: Repository, note: Omit<MergeNote, "id">): FoundNote => {
  const directory = notesDirectory(repository);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, noteName(note.checkoutPath));
  const draft = `${path}.draft`;
  const written: MergeNote = { id: randomBytes(16).toString("hex"), ...note };
  try {
    writeFileSync(draft, JSON.stringify(written), { flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  sync(dirname(path));
  const { mtimeMs, dev } = statSync(path);
  return { ...written, path, writtenAtMs: mtimeMs, device: dev };
};

export const removeNote = ({ path }: FoundNote): void => rmSync(path, { force: true });

/** The note about a checkout, if any. Only the holder of the merge lock knows that its merge is not running. */
export const findNote = (
  repository: Pick<Repository, "commonDirectory">,
  checkoutPath: string,
): FoundNote | undefined => readNote(join(notesDirectory(repository), noteName(checkoutPath)));

/** The notes of all checkouts of the repository. */
export const findNotes = (repository: Pick<Repository, "commonDirectory">): FoundNote[] => {
  const directory = notesDirectory(repository);
  return (existsSync(directory) ? readdirSync(directory) : [])
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readNote(join(directory, name)) ?? []);
};
