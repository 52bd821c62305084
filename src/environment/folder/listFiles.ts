import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, posix, sep } from "node:path";
import { EnvironmentError } from "../../errors.ts";
import { hasCode } from "../../tools/files/hasCode.ts";
import { isInside } from "../../tools/isInside.ts";

/** An environment is smaller: the caller must have passed the wrong folder. */
const MAX_FILES = 20_000;
const MAX_BYTES = 512 * 1024 * 1024;

/** Never copied: tests do not need it. */
const LEFT_OUT = [".git"];

const HINT = "List the files that the tests need in `files` of the definition.";

interface Listing {
  readonly directory: string;
  readonly found: Set<string>;
  bytes: number;
}

/** A link must point into the folder, so that it works wherever the folder is copied to. */
const checkLink = async (directory: string, path: string): Promise<void> => {
  const place = join(directory, path);
  const refused = (problem: string) =>
    new EnvironmentError(place, problem, `Replace it by its target. ${HINT}`);
  if (isAbsolute(await readlink(place))) throw refused("it is a link to an absolute path");
  const target = await realpath(place).catch(() => {
    throw refused("it is a broken link");
  });
  if (!isInside(directory, target)) throw refused("it is a link to a path outside the folder");
};

const add = async (listing: Listing, path: string): Promise<void> => {
  const { directory, found } = listing;
  const place = join(directory, path);
  const status = await lstat(place);
  if (status.isDirectory()) {
    for (const name of (await readdir(place)).sort()) {
      if (!LEFT_OUT.includes(name)) await add(listing, posix.join(path, name));
    }
    return;
  }
  if (found.has(path)) return;
  if (status.isSymbolicLink()) await checkLink(directory, path);
  else if (!status.isFile())
    throw new EnvironmentError(place, "it is neither a file nor a directory", `Remove it. ${HINT}`);
  found.add(path);
  listing.bytes += status.size;
  if (found.size > MAX_FILES || listing.bytes > MAX_BYTES)
    throw new EnvironmentError(
      directory,
      `it has more than ${MAX_FILES} files, or more than ${MAX_BYTES / 1024 / 1024} MiB`,
      HINT,
    );
};

/** A path of `files`, without `./` and the like. */
const normalized = (directory: string, item: string): string => {
  const path = posix.normalize(item.replaceAll(sep, "/")).replace(/(.)\/$/, "$1");
  const leaves = isAbsolute(path) || path === ".." || path.startsWith("../") || path.includes("\0");
  if (leaves)
    throw new EnvironmentError(
      directory,
      `\`files\` has ${JSON.stringify(item)}, which is not in the folder`,
      "Paths are relative to the folder, and must not leave it.",
    );
  return path;
};

/** A directory on the path must not be a link: its files have another real path. */
const checkWay = async (directory: string, path: string): Promise<void> => {
  const parent = posix.dirname(path);
  if (parent === "." || (await realpath(join(directory, parent))) === join(directory, parent)) return;
  throw new EnvironmentError(
    join(directory, path),
    "a directory on its path is a link",
    "Name its real path.",
  );
};

const addItem = async (listing: Listing, item: string): Promise<void> => {
  const path = normalized(listing.directory, item);
  try {
    await checkWay(listing.directory, path);
    await add(listing, path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    const problem = `\`files\` has ${JSON.stringify(item)}, which does not exist`;
    throw new EnvironmentError(listing.directory, problem, "Correct it.", { cause });
  }
};

/** The copied files and links, relative to the folder. Those in `always` are copied if they exist. */
export const listFiles = async (
  directory: string,
  selected: readonly string[] | undefined,
  always: readonly string[],
): Promise<readonly string[]> => {
  const listing: Listing = { directory, found: new Set(), bytes: 0 };
  const names = await readdir(directory);
  for (const name of always) if (names.includes(name)) await add(listing, name);
  for (const item of selected ?? ["."]) await addItem(listing, item);
  return [...listing.found].sort();
};
