import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { processExists } from "../../process/kill/processExists.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "../../process/kill/processIdentity.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { parseObject } from "../../tools/json/parseJson.ts";
import { orUndefined } from "../../tools/orUndefined.ts";

export interface LockOwner extends ProcessIdentity {
  /** Shown to a process that finds the lock taken. */
  readonly purpose: string;
  readonly since: string;
}

export type LockAttempt =
  | { readonly acquired: true; release(): void }
  | { readonly acquired: false; readonly owner: LockOwner | undefined };

/** Removing a dead owner's lock takes less than a millisecond: an older guard was left by a crash. */
const STALE_GUARD_MS = 10_000;

/** The owner of the lock; `undefined` if it is free. */
export const readOwner = (path: string): LockOwner | undefined =>
  orUndefined(() => {
    const owner = parseObject(readFileSync(path, "utf8"));
    return owner !== undefined && "pid" in owner ? (owner as unknown as LockOwner) : undefined;
  });

const draftOf = (path: string): string => `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
const DRAFT = /\.(\d+)\.[0-9a-f]{8}$/;

/** Creates `path` with its whole content at once, so that no process reads half a lock. Returns whether it did. */
const createExclusively = (path: string, content: string, attempts = 3): boolean => {
  const draft = draftOf(path);
  writeFileSync(draft, content, { flag: "wx" });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    // A process in another PID namespace has taken the draft for one of a dead process.
    if (hasCode(error, "ENOENT") && attempts > 1) return createExclusively(path, content, attempts - 1);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

/** A process that was killed in `createExclusively` leaves its draft. */
const removeDeadDrafts = (directory: string): void => {
  for (const name of readdirSync(directory)) {
    const pid = DRAFT.exec(name)?.[1];
    if (pid !== undefined && !processExists(Number(pid))) rmSync(join(directory, name), { force: true });
  }
};

const guardIsStale = (guard: string): boolean =>
  orUndefined(() => Date.now() - statSync(guard).mtimeMs > STALE_GUARD_MS) ?? false;

/**
 * Removes the lock of a dead owner. The guard makes sure that only one contender removes it, and that it removes the
 * lock that it has checked rather than a new one.
 */
export const removeDeadLock = (path: string): boolean => {
  const guard = `${path}.takeover`;
  if (!createExclusively(guard, "")) {
    if (guardIsStale(guard)) rmSync(guard, { force: true });
    return false;
  }
  try {
    const owner = readOwner(path);
    if (owner === undefined || isRunning(owner)) return false;
    unlinkSync(path);
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
};

/** Takes the lock if it is free or its owner is dead. Never waits. */
export const tryLock = (path: string, purpose: string): LockAttempt => {
  mkdirSync(dirname(path), { recursive: true });
  removeDeadDrafts(dirname(path));
  const owner: LockOwner = { ...ownIdentity(), purpose, since: new Date().toISOString() };
  const content = JSON.stringify(owner);
  const take = (): boolean => createExclusively(path, content);
  if (take() || (removeDeadLock(path) && take())) {
    return { acquired: true, release: () => rmSync(path, { force: true }) };
  }
  return { acquired: false, owner: readOwner(path) };
};

/** The locks in a directory whose owners are dead. */
export const deadLocks = (directory: string): { readonly path: string; readonly owner: LockOwner }[] =>
  (existsSync(directory) ? readdirSync(directory) : [])
    .filter((name) => name.endsWith(".lock"))
    .flatMap((name) => {
      const path = join(directory, name);
      const owner = readOwner(path);
      return owner === undefined || isRunning(owner) ? [] : [{ path, owner }];
    });

export const describeOwner = (owner: LockOwner | undefined): string =>
  owner === undefined
    ? "another process"
    : `${owner.purpose} (process ${owner.pid} on ${owner.host}, since ${owner.since})`;
