import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { hostSystem } from "../../process/host/system.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { ConfigEntry } from "../configFile.ts";
import { gitDirectoryPart } from "../gitDirectoryParts.ts";
import { isObjectName } from "../objectName.ts";
import type { Repository } from "../repository.ts";
import { directoriesIn, isOwn } from "../sharedDirectories/sharedDirectory.ts";

/** The files of a commit that many overlays share as their lower directory. Nothing writes to it. */
export interface SharedCheckout {
  readonly path: string;
  readonly commit: string;
  readonly filesPath: string;
  /** Git's index of these files. */
  readonly indexPath: string;
  /** The machine was restarted since it was verified, so files may be torn. */
  readonly isFromEarlierBoot: boolean;
  readonly usedAt: number;
}

const RECORD = "checkout.json";

export const sharedCheckoutsDirectory = (repository: Pick<Repository, "commonDirectory">): string =>
  gitDirectoryPart(repository, "checkouts");

export const sharedPaths = (path: string) => ({
  path,
  filesPath: join(path, "files"),
  indexPath: join(path, "index"),
  recordPath: join(path, RECORD),
});

/** The settings that decide how git writes files. */
const DECIDES_FILES = /^(core|filter|extensions|lfs)\./;

const readIfExists = (path: string): string => orUndefined(() => readFileSync(path, "utf8")) ?? "";

/** Identifies the settings and attributes that git writes files with: others need another shared checkout. */
export const settingsHash = (repository: Repository, config: readonly ConfigEntry[]): string => {
  const settings = config.filter(([name]) => DECIDES_FILES.test(name));
  const configured = settings.findLast(([name]) => name === "core.attributesfile")?.[1];
  const configHome = process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
  const attributes = [
    join(repository.commonDirectory, "info/attributes"),
    configured?.replace(/^~(?=\/)/, homedir()) ?? join(configHome, "git/attributes"),
  ].map(readIfExists);
  return createHash("sha256")
    .update(JSON.stringify([settings, attributes]))
    .digest("hex")
    .slice(0, 16);
};

export const sharedCheckoutName = (commit: string, settings: string): string => `${commit}-${settings}`;

/** The commit in the name of a shared checkout. */
export const commitOf = (path: string): string => basename(path).split("-")[0] ?? "";

/** Changes whenever a file is written. */
const stampOf = (path: string): string => {
  const { ino, size, ctimeNs } = lstatSync(path, { bigint: true });
  return [ino, size, ctimeNs].join(":");
};

/** Writes the record, which completes a shared checkout. */
export const writeRecord = (path: string, commit: string): void => {
  const record = { commit, bootId: hostSystem().bootId(), index: stampOf(sharedPaths(path).indexPath) };
  const draft = join(path, `${RECORD}.draft`);
  writeFileSync(draft, `${JSON.stringify(record)}\n`);
  renameSync(draft, join(path, RECORD));
};

/** The commit and the start of the machine in a record; `undefined` unless it was written together with the index. */
const readRecord = (path: string): { readonly commit: string; readonly bootId: unknown } | undefined => {
  const { commit, bootId, index } = parseObject(readIfExists(join(path, RECORD))) ?? {};
  if (typeof commit !== "string" || !isObjectName(commit)) return undefined;
  return index === stampOf(sharedPaths(path).indexPath) ? { commit, bootId } : undefined;
};

/** Takes the record away: no run uses it any more, and the next one that needs it makes it anew. */
export const distrust = ({ path }: SharedCheckout): void => rmSync(join(path, RECORD), { force: true });

/** Reads a shared checkout; `undefined` if it is incomplete, or if another user could have written to it. */
export const readSharedCheckout = (path: string): SharedCheckout | undefined => {
  const paths = sharedPaths(path);
  if (!isOwn(path) || !existsSync(paths.indexPath) || !existsSync(paths.filesPath)) return undefined;
  const record = readRecord(path);
  if (record === undefined) return undefined;
  const { filesPath, indexPath } = paths;
  return {
    ...{ path, filesPath, indexPath },
    commit: record.commit,
    isFromEarlierBoot: record.bootId !== hostSystem().bootId(),
    usedAt: lstatSync(paths.recordPath).mtimeMs,
  };
};

/** The paths of all shared checkouts, of unfinished and of discarded ones. */
export const listSharedPaths = (repository: Pick<Repository, "commonDirectory">): string[] =>
  directoriesIn(sharedCheckoutsDirectory(repository));
