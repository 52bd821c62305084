import { lstatSync, type PathLike, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withHeldDirectory } from "../heldDirectory.ts";
import { COMMON_DIRECTORY_FILE } from "./sandboxRepository.ts";

/** An agent can make any number of refs, of any size: with more than these everything is kept unseen. */
const MAX_REFS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 200;

const OBJECT_NAME = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const SYMBOLIC_REF = /^ref: /;
const LEFT_BY_CHECKOUT = /^([0-9a-f]{40,64}) .*checkout: moving from [0-9a-f]{40,64} to /;
/** The name that git writes for "no object". */
const NO_OBJECT = /^0+$/;

const linesOf = (path: PathLike): string[] => {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return [];
  // A link, which git would follow, may lead anywhere.
  if (!status.isFile()) throw new TypeError(`${path} is not a regular file`);
  if (status.size > MAX_BYTES) throw new RangeError(`${path} is too large`);
  return readFileSync(path, "latin1").split("\n");
};

/** A ref that is neither an object nor another ref is damaged: nobody knows any more what it stood for. */
const readRef = (path: PathLike): string[] => {
  const [line] = linesOf(path);
  if (line === undefined) return [];
  if (SYMBOLIC_REF.test(line)) return [];
  if (!OBJECT_NAME.test(line.trim())) throw new TypeError(`${path} is damaged`);
  return [line.trim()];
};

const readPackedRefs = (path: string): string[] =>
  linesOf(path)
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [name = ""] = line.replace(/^\^/, "").split(" ");
      if (!OBJECT_NAME.test(name)) throw new TypeError(`${path} is damaged`);
      return name;
    });

const readFirstLine = (path: string): string[] => {
  const [line = ""] = linesOf(path);
  return OBJECT_NAME.test(line) ? [line] : [];
};

interface RefFile {
  readonly name: string;
  readonly objects: readonly string[];
}

/** All refs in a directory, by held directories: an agent can nest them more deeply than a path may be long. */
const refsIn = (root: string, steps: readonly string[]): RefFile[] => {
  if (steps.length > MAX_DEPTH) throw new RangeError("the refs are nested too deeply");
  const { files, directories } = withHeldDirectory(root, steps, ({ path, entry }) => {
    const entries = readdirSync(path, { encoding: "latin1", withFileTypes: true });
    return {
      directories: entries.filter((one) => one.isDirectory()).map(({ name }) => name),
      files: entries
        .filter((one) => !one.isDirectory() && !one.name.endsWith(".lock"))
        .map(({ name }) => ({ name: [...steps, name].join("/"), objects: readRef(entry(name)) })),
    };
  });
  if (files.length > MAX_REFS) throw new RangeError("there are too many refs");
  return [...files, ...directories.flatMap((name) => refsIn(root, [...steps, name]))];
};

const refsBelow = (directory: string): RefFile[] =>
  lstatSync(join(directory, "refs"), { throwIfNoEntry: false }) === undefined
    ? []
    : // Names are of any bytes.
      refsIn(Buffer.from(directory).toString("latin1"), ["refs"]);

const directoriesIn = (path: string): string[] =>
  lstatSync(path, { throwIfNoEntry: false }) === undefined
    ? []
    : readdirSync(path).map((name) => join(path, name));

/** What HEAD of a worktree stands for, has left behind, or will put back. */
const namesInWorktree = (directory: string): string[] => [
  ...readRef(join(directory, "HEAD")),
  ...linesOf(join(directory, "logs/HEAD")).flatMap((line) => LEFT_BY_CHECKOUT.exec(line)?.[1] ?? []),
  ...["MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"].flatMap((file) =>
    readFirstLine(join(directory, file)),
  ),
];

const namesIn = (gitDirectory: string, ownRef: string | undefined): string[] => {
  const worktrees = directoriesIn(join(gitDirectory, "worktrees"));
  const refs = [
    ...refsBelow(gitDirectory).filter(({ name }) => name !== ownRef),
    ...worktrees.flatMap(refsBelow),
  ];
  if (refs.length > MAX_REFS) throw new RangeError("there are too many refs");
  return [
    ...[gitDirectory, ...worktrees].flatMap(namesInWorktree),
    ...refs.flatMap(({ objects }) => objects),
    ...readPackedRefs(join(gitDirectory, "packed-refs")),
    // All stashes but the last are named by a log alone.
    ...linesOf(join(gitDirectory, "logs/refs/stash")).flatMap((line) => line.split(" ", 2)),
  ];
};

/** Only git can read these refs, or they are elsewhere. */
const ELSEWHERE = ["reftable", COMMON_DIRECTORY_FILE.name, COMMON_DIRECTORY_FILE.movedTo];

/**
 * Every object that a git directory names as work, by the same rules as the export: refs of any kind, HEAD of each
 * worktree, stashes, commits that a checkout left behind. `undefined` if that cannot be told.
 */
export const namedObjects = (gitDirectory: string, ownRef?: string): ReadonlySet<string> | undefined => {
  try {
    if (lstatSync(gitDirectory, { throwIfNoEntry: false }) === undefined) return new Set();
    if (ELSEWHERE.some((name) => lstatSync(join(gitDirectory, name), { throwIfNoEntry: false })))
      return undefined;
    return new Set(
      namesIn(gitDirectory, ownRef).filter((name) => OBJECT_NAME.test(name) && !NO_OBJECT.test(name)),
    );
  } catch {
    return undefined;
  }
};
