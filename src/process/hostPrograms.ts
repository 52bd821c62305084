import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { entryExists } from "../tools/files/entries.ts";
import { orUndefined } from "../tools/orUndefined.ts";

/** The real paths of checkouts in which agents work: an agent may have written the programs in them. */
const distrusted = new Set<string>();

export const realPath = (path: string): string | undefined => orUndefined(() => realpathSync.native(path));

/** The directory and its ancestors. */
const withParents = (path: string): string[] =>
  path === dirname(path) ? [path] : [path, ...withParents(dirname(path))];

/** The main checkout of a linked worktree, whose `.git` is a file with the path of its git directory. */
const mainCheckoutOf = (dotGit: string): string | undefined => {
  try {
    const gitDirectory = /^gitdir: (.*)$/m.exec(readFileSync(dotGit, "utf8"))?.[1];
    if (gitDirectory === undefined) return undefined;
    const common = dirname(dirname(resolve(dirname(dotGit), gitDirectory)));
    return basename(common) === ".git" ? realPath(dirname(common)) : undefined;
  } catch {
    // A directory, or unreadable: git will report it.
    return undefined;
  }
};

/**
 * From now on no program is looked up in the checkout of `cwd`, nor in those around it. Package runners such as `npx` put
 * `node_modules/.bin` first in the PATH, and an agent can create a program named `git` there. A home directory that is a
 * checkout counts only if it is the checkout of `cwd` itself: many programs are installed there.
 */
export const distrustCheckoutOf = (cwd: string): void => {
  const start = realPath(cwd);
  // If the root directory is a checkout, it contains every program.
  const directories = start === undefined ? [] : withParents(start).filter((path) => path !== dirname(path));
  const checkouts = directories.filter((path) => entryExists(join(path, ".git")));
  const home = realPath(homedir());
  for (const [index, checkout] of checkouts.entries()) {
    if (index > 0 && checkout === home) continue;
    distrusted.add(checkout);
    const main = mainCheckoutOf(join(checkout, ".git"));
    if (main !== undefined) distrusted.add(main);
  }
};

/** Of this checkout, or of one around it: git and docker are not installed by JavaScript package managers. */
const PACKAGE_PROGRAMS = /(^|\/)node_modules\/\.bin\/*$/;

/** Whether a path is in a checkout in which agents work. */
export const isDistrusted = (path: string): boolean => {
  const real = realPath(path);
  return real !== undefined && withParents(real).some((parent) => distrusted.has(parent));
};

/** Checks the entry and its real path: a link in the checkout can lead to any directory that the agent can write. */
const isTrusted = (entry: string): boolean =>
  isAbsolute(entry) && !PACKAGE_PROGRAMS.test(entry) && !withParents(entry).some(isDistrusted);

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The trusted entries of a PATH, for a number of distrusted checkouts. */
interface Found {
  readonly entries: readonly string[];
  readonly checkouts: number;
}

const found = new Map<string, Found>();

/** Computed once, and again only to exclude more: an agent must not be able to make an entry trusted later. */
const trustedEntries = (path: string): readonly string[] => {
  const former = found.get(path);
  if (former?.checkouts === distrusted.size) return former.entries;
  const entries = (former?.entries ?? path.split(delimiter)).filter(isTrusted);
  found.set(path, { entries, checkouts: distrusted.size });
  return entries;
};

/** A program that was not found must not be looked up again by the system, in an untrusted directory. */
const NOWHERE = join(sep, "nonexistent");

/** The PATH of this process without untrusted entries. Never empty: that would mean the current directory. */
export const hostPath = (): string =>
  trustedEntries(process.env["PATH"] ?? DEFAULT_PATH).join(delimiter) || NOWHERE;

const isExecutable = (path: string): boolean => {
  try {
    // First, because most places do not have it, and an exception takes longer than the question.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The path of a program of the host, from the given PATH or that of this process. */
export const findProgram = (name: string, path = process.env["PATH"] ?? DEFAULT_PATH): string => {
  if (name.includes(sep)) return name;
  const places = trustedEntries(path).map((entry) => join(entry, name));
  return places.find(isExecutable) ?? join(NOWHERE, name);
};

/** The default environment of a host process. */
export const hostEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: hostPath() });
