import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { hostSystem } from "../../process/host/system.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { asText } from "../output.ts";
import { atEntry, isAbsent } from "./checkoutEntry.ts";

const SET_ID = 0o6000;
const PERMISSIONS = 0o777;
/** Neither follows a link nor waits for the other end of a pipe. */
const flags = (): number => hostSystem().placeOnly | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The permissions that an entry may keep; `undefined` if it needs no change. */
const harmlessMode = (status: BigIntStats, since: bigint): number | undefined => {
  // No program can set back the change time of a file.
  if (status.isDirectory() || status.isSymbolicLink() || status.ctimeNs < since) return undefined;
  if (status.isBlockDevice() || status.isCharacterDevice()) return 0;
  const mode = Number(status.mode);
  return mode & SET_ID ? mode & PERMISSIONS : undefined;
};

const takeAway = (checkoutPath: string, path: string, since: bigint): boolean =>
  atEntry(checkoutPath, path, (directory, name) => {
    const entry = directory.entry(name);
    if (harmlessMode(lstatSync(entry, { bigint: true }), since) === undefined) return false;
    const descriptor = openSync(entry, flags());
    try {
      // Checked again: only now that it is open can it not be replaced.
      const mode = harmlessMode(fstatSync(descriptor, { bigint: true }), since);
      if (mode !== undefined) hostSystem().setMode(descriptor, mode);
      return mode !== undefined;
    } finally {
      closeSync(descriptor);
    }
  });

const MAX_SHOWN = 5;

const listed = (paths: readonly string[]): string => {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => JSON.stringify(asText(path).replace(/^\.\//, "")));
  const others = paths.length - shown.length;
  return others > 0 ? `${shown.join(", ")} and ${others} more` : shown.join(", ");
};

/**
 * Removes set-uid and set-gid bits, with which any account on the machine could run a program with its owner's rights,
 * and all permissions of devices. Touches only files that were changed after `since`. Returns sentences.
 */
export const removePrivileges = (checkoutPath: string, paths: readonly string[], since: bigint): string[] => {
  const removed: string[] = [];
  const failed: string[] = [];
  for (const path of paths) {
    try {
      if (takeAway(checkoutPath, path, since)) removed.push(path);
    } catch (error) {
      if (!isAbsent(error)) failed.push(path);
    }
  }
  return [
    ...(removed.length > 0
      ? [
          `The agent left programs that run with their owner's rights (set-uid, set-gid), or devices, in ${checkoutPath}: ${listed(removed)}. Those permissions were removed.`,
        ]
      : []),
    ...(failed.length > 0
      ? [
          `The agent left programs that run with their owner's rights (set-uid, set-gid), or devices, in ${checkoutPath}: ${listed(failed)}. The permissions could not be removed. They belong to another user: sudo chmod -R ug-s ${shellQuote(checkoutPath)}`,
        ]
      : []),
  ];
};
