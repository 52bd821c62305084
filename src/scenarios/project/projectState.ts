import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** The state of each entry of a project, by its path. */
type State = ReadonlyMap<string, string>;

/** Names are bytes: this encoding keeps each of them, so that the path can be restored. */
const NAMES = "latin1";
const pathOf = (root: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, NAMES)]);

const hashOf = async (path: Buffer): Promise<string> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const hash = createHash("sha256");
    await pipeline(file.createReadStream({ autoClose: false }), hash);
    return hash.digest("hex");
  } finally {
    await file.close();
  }
};

/** The state of an entry without its content. Isolated sandboxes keep the owner's permissions, but not the times. */
const outlineOf = (found: Stats): string => {
  const rights = (found.mode & 0o700).toString(8);
  if (found.isFile()) return `file ${rights} ${found.size}`;
  if (found.isDirectory()) return `directory ${rights}`;
  return found.isSymbolicLink() ? "link" : "other";
};

const contentOf = async (path: Buffer, found: Stats): Promise<string> => {
  if (found.isFile()) return hashOf(path);
  return found.isSymbolicLink() ? (await readlink(path, { encoding: "buffer" })).toString(NAMES) : "";
};

/** Walks until `visit` returns `false`. Reads content only on request: files may have any size. */
const walk = async (
  root: string,
  visit: (path: string, outline: string, content: () => Promise<string>) => Promise<boolean>,
  directory = "",
): Promise<boolean> => {
  for (const name of await readdir(pathOf(root, directory), { encoding: "buffer" })) {
    const path = join(directory, name.toString(NAMES));
    const place = pathOf(root, path);
    const found = await lstat(place);
    if (!(await visit(path, outlineOf(found), () => contentOf(place, found)))) return false;
    if (found.isDirectory() && !(await walk(root, visit, path))) return false;
  }
  return true;
};

const readState = async (root: string): Promise<State> => {
  const state = new Map<string, string>();
  await walk(root, async (path, outline, content) => {
    state.set(path, `${outline} ${await content()}`);
    return true;
  });
  return state;
};

/** The path of the first difference; `undefined` if there is none. */
const findDifference = async (root: string, before: State): Promise<string | undefined> => {
  const missing = new Set(before.keys());
  let different: string | undefined;
  await walk(root, async (path, outline, content) => {
    const former = before.get(path);
    missing.delete(path);
    const isSame = former?.startsWith(`${outline} `) === true && former === `${outline} ${await content()}`;
    if (!isSame) different = path;
    return isSame;
  });
  const found = different ?? [...missing][0];
  return found === undefined ? undefined : Buffer.from(found, NAMES).toString();
};

/**
 * Remembers the state of a project. The returned function resolves with the path of a change since then, if there is
 * one: of content, kind or the owner's permissions. A project that cannot be read counts as changed.
 */
export const rememberProject = async (root: string): Promise<() => Promise<string | undefined>> => {
  const before = await readState(root).catch(() => new Map([[".", ""]]));
  return () => findDifference(root, before).catch(() => ".");
};
