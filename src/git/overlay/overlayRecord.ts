import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseObject } from "../../tools/json/parseJson.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { isObjectName } from "../objectName.ts";

const RECORD = "overlay.json";

/** The directories below an overlay, by their names: the repository may move. */
export interface OverlayRecord {
  readonly shared: string;
  readonly commit: string;
  /** The kept set-up whose files lie over the shared checkout. */
  readonly setup?: string;
  /** Git is writing the files that the run starts with. No command has run in it. */
  readonly isUnfinished?: boolean;
}

export const writeOverlayRecord = (directory: string, record: OverlayRecord): void =>
  writeFileSync(join(directory, RECORD), JSON.stringify(record));

/** When an overlay was completed, before any command ran in it. */
export const overlayRecordTime = (directory: string): Date => lstatSync(join(directory, RECORD)).mtime;

const isName = (value: unknown): value is string => typeof value === "string" && basename(value) === value;

export const readOverlayRecord = (directory: string): OverlayRecord | undefined => {
  const record = parseObject(orUndefined(() => readFileSync(join(directory, RECORD), "utf8")) ?? "");
  const { shared, commit, setup, isUnfinished } = record ?? {};
  if (!isName(shared) || !isObjectName(commit)) return undefined;
  return { shared, commit, ...(isName(setup) && { setup }), isUnfinished: isUnfinished === true };
};
