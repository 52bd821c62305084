import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../../errors.ts";
import { readLinkTargets } from "../../linkTargets.ts";
import type { ObjectReader } from "../../longLived/objectReader.ts";
import { readingObjects } from "../../longLived/sharedGit.ts";
import { IMPORT_LIMITS, type ImportLimits, limitExceeded } from "../limits.ts";
import { compareTrees, type TreeDifference, type TreeEntry } from "./treeChanges.ts";

/** The change that a checkout of `to` writes over `from`. */
export interface TreeChange {
  readonly from: string;
  readonly to: string;
}

/** Number and size of the files below a directory, and its longest path. */
interface Extent {
  readonly files: number;
  readonly bytes: number;
  readonly longestPath: number;
}

const KINDS: Readonly<Record<string, TreeEntry["kind"]>> = { "040000": "tree", "160000": "submodule" };

const TYPE = 0o170000;
const EXECUTABLE = 0o100;

/**
 * The mode that git takes an entry's for. Git accepts commits with any permissions, and decides by the type alone: an agent could pass
 * off a link or a directory as a file.
 */
const canonicalMode = (octal: string): string => {
  // The rest does not count for git.
  const mode = Number.parseInt(octal.slice(-6), 8);
  switch (mode & TYPE) {
    case 0o100000:
      return (mode & EXECUTABLE) === 0 ? "100644" : "100755";
    case 0o120000:
      return "120000";
    case 0o040000:
      return "040000";
    default:
      return "160000";
  }
};

const parseTree = (contents: Buffer, hashBytes: number): TreeEntry[] => {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < contents.length; ) {
    const space = contents.indexOf(0x20, at);
    const end = contents.indexOf(0, space);
    // Git has checked new trees only; older ones may be malformed.
    if (space === -1 || end === -1) break;
    const mode = canonicalMode(contents.toString("latin1", at, space));
    const name = contents.toString("latin1", space + 1, end);
    at = end + 1 + hashBytes;
    entries.push({ kind: KINDS[mode] ?? "blob", mode, name, object: contents.toString("hex", end + 1, at) });
  }
  return entries;
};

/**
 * Measures what a checkout of commits would write. Each tree is read once, however often it occurs: a few trees that
 * contain each other many times can expand to more files than any disk holds, and a command that lists them would never
 * end.
 */
class TreeMeasure {
  #trees = new Map<string, Promise<TreeEntry[]>>();
  #extents = new Map<string, Promise<Extent>>();
  #sizes = new Map<string, Promise<number>>();
  #visited = 0;

  constructor(
    private readonly reader: ObjectReader,
    private readonly bundlePath: string | undefined,
    private readonly limits: ImportLimits,
  ) {}

  async check({ from, to }: TreeChange): Promise<void> {
    const root = await this.#rootOf(to);
    if (root === undefined)
      throw new ImportRefusedError(`the sandbox names the commit ${to} but did not send it`, this.bundlePath);
    this.#require(await this.#changeOf(await this.#rootOf(from), root, 0));
  }

  /** The files of a change that has passed the check. */
  async compare({ from, to }: TreeChange): Promise<TreeDifference> {
    const [before, after = ""] = await Promise.all([this.#rootOf(from), this.#rootOf(to)]);
    this.#visited = 0;
    return compareTrees((tree) => this.#visit(tree), before, after);
  }

  /** Directories without files count too: a few that contain each other many times would take for ever to walk. */
  #visit(tree: string): Promise<TreeEntry[]> {
    this.#visited += 1;
    if (this.#visited > 2 * this.limits.changedFiles)
      throw limitExceeded("changedFiles", this.bundlePath, this.limits);
    return this.#entries(tree);
  }

  async #rootOf(commit: string): Promise<string | undefined> {
    const object = await this.reader.contents(commit);
    return /^tree ([0-9a-f]+)\n/.exec(object?.contents.toString("latin1", 0, 80) ?? "")?.[1];
  }

  #require({ files, bytes }: Pick<Extent, "files" | "bytes">): void {
    if (files > this.limits.changedFiles) throw limitExceeded("changedFiles", this.bundlePath, this.limits);
    if (bytes > this.limits.changedBytes) throw limitExceeded("changedBytes", this.bundlePath, this.limits);
  }

  #requireName(name: string, before: number, after = 0): void {
    if (name.length > this.limits.nameBytes) throw limitExceeded("nameBytes", this.bundlePath, this.limits);
    if (before + name.length + after > this.limits.pathBytes)
      throw limitExceeded("pathBytes", this.bundlePath, this.limits);
  }

  #entries(tree: string): Promise<TreeEntry[]> {
    return this.#once(this.#trees, tree, async () => {
      const object = await this.reader.contents(tree);
      return object === undefined ? [] : parseTree(object.contents, tree.length / 2);
    });
  }

  #sizeOf(blob: string): Promise<number> {
    return this.#once(this.#sizes, blob, async () => (await this.reader.info(blob))?.size ?? 0);
  }

  #once<A>(known: Map<string, Promise<A>>, key: string, find: () => Promise<A>): Promise<A> {
    const before = known.get(key);
    if (before !== undefined) return before;
    const found = find();
    known.set(key, found);
    return found;
  }

  /** Everything below a new tree. */
  #extentOf(tree: string, depth: number): Promise<Extent> {
    if (depth > this.limits.pathBytes / 2) throw limitExceeded("pathBytes", this.bundlePath, this.limits);
    return this.#once(this.#extents, tree, async () => {
      let total: Extent = { files: 0, bytes: 0, longestPath: 0 };
      const entries = await this.#entries(tree);
      for (const entry of entries) this.#requireName(entry.name, 0);
      const sizes = await Promise.all(
        entries.map(({ kind, object }) => (kind === "blob" ? this.#sizeOf(object) : 0)),
      );
      for (const [index, { kind, name, object }] of entries.entries()) {
        const below: Extent =
          kind === "tree"
            ? await this.#extentOf(object, depth + 1)
            : { files: 1, bytes: sizes[index] as number, longestPath: 0 };
        total = {
          files: total.files + below.files,
          bytes: total.bytes + below.bytes,
          longestPath: Math.max(
            total.longestPath,
            name.length + (below.longestPath > 0 ? below.longestPath + 1 : 0),
          ),
        };
        this.#require(total);
      }
      return total;
    });
  }

  /** The differences between two trees at the same path. */
  async #changeOf(
    from: string | undefined,
    to: string,
    pathBytes: number,
  ): Promise<Pick<Extent, "files" | "bytes">> {
    const [before, after] = await Promise.all([from === undefined ? [] : this.#visit(from), this.#visit(to)]);
    const known = new Map(before.map((entry) => [entry.name, entry]));
    const changed = after.filter(({ name, object, mode }) => {
      const other = known.get(name);
      return other?.object !== object || other.mode !== mode;
    });
    let files = 0;
    let bytes = 0;
    for (const { kind, name, object } of changed) {
      const other = known.get(name);
      this.#requireName(name, pathBytes);
      if (kind === "tree" && other?.kind === "tree") {
        const below = await this.#changeOf(other.object, object, pathBytes + name.length + 1);
        files += below.files;
        bytes += below.bytes;
      } else if (kind === "tree") {
        const below = await this.#extentOf(object, 0);
        this.#requireName(name, pathBytes, below.longestPath + 1);
        files += below.files;
        bytes += below.bytes;
      } else {
        files += 1;
        bytes += kind === "blob" ? await this.#sizeOf(object) : 0;
      }
      this.#require({ files, bytes });
    }
    return { files, bytes };
  }
}

/** The files of a change, with the targets of its symbolic links. */
export interface ComparedTrees extends TreeDifference {
  /** By path. A link that was not read is missing. */
  readonly linkTargets: ReadonlyMap<string, string>;
}

/** Refuses commits whose checkout would exceed the limits. Must run before anything else reads their trees. */
export const requireBoundedTrees = (
  cwd: string,
  changes: readonly TreeChange[],
  bundlePath: string | undefined,
  limits: ImportLimits = IMPORT_LIMITS,
): Effect.Effect<void, SandduneError> =>
  changes.length === 0
    ? Effect.void
    : readingObjects(cwd, async (reader) => {
        const measure = new TreeMeasure(reader, bundlePath, limits);
        for (const change of changes) await measure.check(change);
      });

/** Does the same for one change, and resolves with its files. */
export const compareBoundedTrees = (
  cwd: string,
  change: TreeChange,
  bundlePath: string | undefined,
  limits: ImportLimits = IMPORT_LIMITS,
): Effect.Effect<ComparedTrees, SandduneError> =>
  readingObjects(cwd, async (reader) => {
    const measure = new TreeMeasure(reader, bundlePath, limits);
    await measure.check(change);
    const difference = await measure.compare(change);
    return { ...difference, linkTargets: await readLinkTargets(reader, difference.files) };
  });
