import type { Change, GitFile } from "../../diffTree.ts";
import { asText } from "../../output.ts";

/** An entry of a tree. Names are `latin1`, which preserves any bytes. */
export interface TreeEntry {
  readonly kind: "tree" | "blob" | "submodule";
  /** As `git diff-tree` prints it. */
  readonly mode: string;
  readonly name: string;
  readonly object: string;
}

type ReadTree = (tree: string) => Promise<readonly TreeEntry[]>;

/** The difference between two commits. */
export interface TreeDifference {
  /** The files that differ, in the order of `git diff-tree -r`. */
  readonly files: readonly Change[];
  /** The names at the top of the repository that differ, even of empty directories. */
  readonly topNames: readonly string[];
}

const fileOf = (entry: TreeEntry | undefined): GitFile | undefined =>
  entry && { mode: entry.mode, sha: entry.object };

/** Git sorts a directory as if its name ended with a slash. */
const keyOf = ({ kind, name }: TreeEntry): string => (kind === "tree" ? `${name}/` : name);

const byKey = (entries: readonly TreeEntry[]) => new Map(entries.map((entry) => [keyOf(entry), entry]));

const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.object === other?.object && one?.mode === other?.mode;

/** The entries of two trees that differ, in git's order. Either side may lack an entry. */
const differences = async (readTree: ReadTree, from: string | undefined, to: string | undefined) => {
  const [before, after] = await Promise.all(
    [from, to].map(async (tree) => byKey(tree === undefined ? [] : await readTree(tree))),
  );
  const keys = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort((one, other) =>
    one < other ? -1 : 1,
  );
  return keys
    .map((key) => ({ from: before?.get(key), to: after?.get(key) }))
    .filter((pair) => !isSame(pair.from, pair.to));
};

/**
 * Compares two trees as `git diff-tree -r` does, and reads each tree once. The trees must have been measured: a listing
 * has as many entries as a checkout has files.
 */
export const compareTrees = async (
  readTree: ReadTree,
  from: string | undefined,
  to: string,
): Promise<TreeDifference> => {
  const files: Change[] = [];
  const topNames = new Set<string>();
  const walk = async (before: string | undefined, after: string | undefined, prefix: string) => {
    for (const pair of await differences(readTree, before, after)) {
      const { kind, name } = (pair.from ?? pair.to) as TreeEntry;
      const path = `${prefix}${name}`;
      if (prefix === "") topNames.add(asText(name));
      if (kind === "tree") await walk(pair.from?.object, pair.to?.object, `${path}/`);
      else files.push({ path: asText(path), from: fileOf(pair.from), to: fileOf(pair.to) });
    }
  };
  await walk(from, to, "");
  return { files, topNames: [...topNames] };
};
