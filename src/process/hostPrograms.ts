import { accessSync, constants, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";

/** Checkouts that agents work in, by their real paths: programs in them may be an agent's. */
const distrusted = new Set<string>();

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
};

/** The directory and all that it is in, up to the root. */
const withParents = (path: string): string[] =>
  path === dirname(path) ? [path] : [path, ...withParents(dirname(path))];

/** The main checkout of a linked worktree, whose `.git` is a file that says where its git directory is. */
const mainCheckoutOf = (dotGit: string): string | undefined => {
  try {
    const gitDirectory = /^gitdir: (.*)$/m.exec(readFileSync(dotGit, "utf8"))?.[1];
    if (gitDirectory === undefined) return undefined;
    const common = dirname(dirname(resolve(dirname(dotGit), gitDirectory)));
    return basename(common) === ".git" ? realPath(dirname(common)) : undefined;
  } catch {
    // A directory, or what cannot be read: git will say so.
    return undefined;
  }
};

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * From now on, no program is looked for in the checkout that `cwd` is in, nor in those around it. Package runners (`npx`,
 * for one) put its `node_modules/.bin` before all else, and an agent can put a program of its own there that is called
 * `git`. A home directory that is a checkout counts only if it is the one: many programs are there for good reasons.
 */
export const distrustCheckoutOf = (cwd: string): void => {
  const start = realPath(cwd);
  // Where the root directory is a checkout, every program of the machine is in it.
  const directories = start === undefined ? [] : withParents(start).filter((path) => path !== dirname(path));
  const checkouts = directories.filter((path) => exists(join(path, ".git")));
  const home = realPath(homedir());
  for (const [index, checkout] of checkouts.entries()) {
    if (index > 0 && checkout === home) continue;
    distrusted.add(checkout);
    const main = mainCheckoutOf(join(checkout, ".git"));
    if (main !== undefined) distrusted.add(main);
  }
};

/** Of this checkout, or of one around it: nobody installs git or docker with a package manager for JavaScript. */
const PACKAGE_PROGRAMS = /(^|\/)node_modules\/\.bin\/*$/;

/** Whether a path leads into a checkout that agents work in. */
export const isDistrusted = (path: string): boolean => {
  const real = realPath(path);
  return real !== undefined && withParents(real).some((parent) => distrusted.has(parent));
};

/** Where an entry leads is not enough: a link in the checkout can lead to any place that the agent can write to. */
const isTrusted = (entry: string): boolean =>
  isAbsolute(entry) && !PACKAGE_PROGRAMS.test(entry) && !withParents(entry).some(isDistrusted);

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** What was found of a PATH when so many checkouts were distrusted. */
interface Found {
  readonly entries: readonly string[];
  readonly checkouts: number;
}

const found = new Map<string, Found>();

/** Worked out once, and again only to leave out more: an agent cannot make an entry trustworthy by what it does later. */
const trustedEntries = (path: string): readonly string[] => {
  const former = found.get(path);
  if (former?.checkouts === distrusted.size) return former.entries;
  const entries = (former?.entries ?? path.split(delimiter)).filter(isTrusted);
  found.set(path, { entries, checkouts: distrusted.size });
  return entries;
};

/** What cannot be found must not be looked for once more, by the system, where it could be found after all. */
const NOWHERE = join(sep, "nonexistent");

/** The PATH of this process, without what an agent could have put there. An empty one would mean the current directory. */
export const hostPath = (): string =>
  trustedEntries(process.env["PATH"] ?? DEFAULT_PATH).join(delimiter) || NOWHERE;

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** Where a program of the host is, on a PATH of its own or else on that of this process. */
export const findProgram = (name: string, path = process.env["PATH"] ?? DEFAULT_PATH): string => {
  if (name.includes(sep)) return name;
  const places = trustedEntries(path).map((entry) => join(entry, name));
  return places.find(isExecutable) ?? join(NOWHERE, name);
};

/** The environment of a process of the host for which none is given. */
export const hostEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, PATH: hostPath() });
