import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";

/** The same limit as in Linux. */
const MAX_LINKS = 40;

/** Where a path leads once every symbolic link is followed. */
export interface Place {
  /** Absolute; without symbolic links, as far as it exists. */
  readonly path: string;
  /** `undefined` if nothing exists at the path. */
  readonly status: Stats | undefined;
  /** Whether the path itself is a link, wherever that leads. */
  readonly isLink: boolean;
}

const componentsOf = (path: string): string[] =>
  path.split(sep).filter((name) => name !== "" && name !== ".");

const refuse = (path: string): void => {
  if (path === "") throw new Error("the path is empty");
  if (path.includes("\0")) throw new Error("the path contains a NUL character");
  if (isAbsolute(path)) throw new Error("the path is absolute");
};

/**
 * Resolves a relative path in `root`, which has to be a real path. Throws if the path, or a link on its way, leads
 * out of `root`: nothing outside is accessed. The result is valid as long as no process changes the directory.
 */
export const findInside = (root: string, path: string): Place => {
  refuse(path);
  let current = root;
  let status = lstatSync(root);
  if (!status.isDirectory()) throw new Error("something else is in the directory's place");
  let links = 0;
  let isLink = false;
  const pending = componentsOf(path);
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === "..") {
      if (current === root) throw new Error("it leads outside");
      current = dirname(current);
      status = lstatSync(current);
      continue;
    }
    const next = join(current, name);
    const found = status.isDirectory() ? lstatSync(next, { throwIfNoEntry: false }) : undefined;
    if (found === undefined) {
      if (pending.includes("..")) throw new Error("it leads back from a directory that does not exist");
      return { path: join(next, ...pending), status: undefined, isLink };
    }
    if (!found.isSymbolicLink()) {
      current = next;
      status = found;
      continue;
    }
    if (++links > MAX_LINKS) throw new Error("symbolic links lead in a circle");
    isLink ||= pending.length === 0;
    const target = readlinkSync(next);
    if (isAbsolute(target)) current = root;
    pending.unshift(...componentsOf(isAbsolute(target) ? relative(root, target) : target));
    status = lstatSync(current);
  }
  return { path: current, status, isLink };
};
