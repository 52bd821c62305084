import { lstatSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, type ProcessIdentity } from "../../process/kill/processIdentity.ts";
import type { SandboxSnapshot } from "../../sandboxes/contract.ts";
import { entryExists, isPlainDirectory } from "../../tools/files/entries.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { gitDirectoryPart } from "../gitDirectoryParts.ts";
import type { Repository } from "../repository.ts";
import { directoriesIn, isDraft, isOwn } from "../sharedDirectories/sharedDirectory.ts";
import { USERS } from "../sharedDirectories/users.ts";

/** Text for people, and what removes the snapshot. It holds no secret. */
export interface SetupRecord {
  /** What the entry is found by, and what people want to see of that. */
  readonly key: unknown;
  readonly commands: readonly string[];
  readonly provider: string;
  /** The provider's name for the snapshot. Recorded before the snapshot exists. */
  readonly snapshotName: string;
  /** Where the provider makes it, if that depends on the environment. */
  readonly place?: string;
  /** The provider's own text about the snapshot. `undefined` until the entry is complete. */
  readonly snapshotState?: string;
  readonly runId: string;
  readonly commit: string;
  readonly madeAt: string;
  /** The process that fills it. */
  readonly owner: ProcessIdentity;
  /** The top paths of the layer, `latin1`; a directory's ends with a slash. */
  readonly paths: readonly string[];
  /** The number of files in the layer, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** HOME is not empty. */
  readonly hasHome: boolean;
}

/** The result of hooks that later sandboxes start from. Nothing writes to it. */
export interface KeptSetup {
  readonly path: string;
  readonly record: SetupRecord;
  readonly usedAt: number;
}

const RECORD = "setup.json";

export const setupsDirectory = (repository: Pick<Repository, "commonDirectory">): string =>
  gitDirectoryPart(repository, "setups");

export const setupPaths = (path: string) => ({
  /** The untracked files of the worktree. */
  layer: join(path, "layer"),
  home: join(path, "home"),
  /** The provider's. */
  sandbox: join(path, "sandbox"),
  record: join(path, RECORD),
});

/** No other process sees half of it. */
export const writeRecord = (path: string, record: SetupRecord): void => {
  const draft = join(path, `${RECORD}.draft`);
  writeFileSync(draft, `${JSON.stringify(record, undefined, 2)}\n`);
  renameSync(draft, setupPaths(path).record);
};

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** A record as this version writes it. */
const checkedRecord = (value: Record<string, unknown> | undefined): SetupRecord | undefined => {
  const isComplete =
    value !== undefined &&
    ["provider", "snapshotName", "runId", "commit", "madeAt"].every(
      (name) => typeof value[name] === "string",
    ) &&
    ["files", "bytes"].every((name) => typeof value[name] === "number") &&
    ["string", "undefined"].includes(typeof value["place"]) &&
    isTexts(value["commands"]) &&
    isTexts(value["paths"]) &&
    typeof value["hasHome"] === "boolean" &&
    typeof value["owner"] === "object";
  return isComplete ? (value as unknown as SetupRecord) : undefined;
};

/** Reads the record of a kept set-up or of a draft; `undefined` if there is none, or if another user could have written it. */
export const readRecord = (path: string): SetupRecord | undefined =>
  isOwn(path)
    ? checkedRecord(parseObject(orUndefined(() => readFileSync(setupPaths(path).record, "utf8")) ?? ""))
    : undefined;

/** Whether no part is missing. The user may have deleted all directories with some name, those of the layer as well. */
const isComplete = (path: string, { paths }: SetupRecord): boolean => {
  const { layer, home } = setupPaths(path);
  return (
    [layer, home, join(path, USERS)].every(isPlainDirectory) &&
    paths.every((name) => entryExists(Buffer.concat([Buffer.from(`${layer}/`), Buffer.from(name, "latin1")])))
  );
};

/** Reads a kept set-up; `undefined` if it is incomplete, or if another user could have written it. */
export const readKeptSetup = (path: string): KeptSetup | undefined => {
  const record = readRecord(path);
  const { record: recordPath } = setupPaths(path);
  if (record?.snapshotState === undefined || !isComplete(path, record)) return undefined;
  return { path, record, usedAt: lstatSync(recordPath).mtimeMs };
};

export const snapshotOf = ({ path, record }: KeptSetup): SandboxSnapshot => ({
  name: record.snapshotName,
  directory: setupPaths(path).sandbox,
  state: record.snapshotState ?? "",
});

/** The paths of all kept set-ups, of unfinished and of discarded ones. */
export const listSetupPaths = (repository: Pick<Repository, "commonDirectory">): string[] =>
  directoriesIn(setupsDirectory(repository));

/** Whether a process is still filling it. */
export const isBeingFilled = (path: string): boolean => {
  if (!isDraft(path)) return false;
  const record = readRecord(path);
  return record !== undefined && isRunning(record.owner);
};
