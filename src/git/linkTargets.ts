import { type Change, SYMBOLIC_LINK } from "./diffTree.ts";
import type { ObjectReader } from "./longLived/objectReader.ts";

/** If more links than this change, none of them is read. */
const MAX_READ_LINKS = 100;

/** No file system stores a longer target, but a commit can have one of any size. */
const MAX_TARGET_BYTES = 4096;

const readTarget = async (reader: ObjectReader, sha: string): Promise<string | undefined> => {
  const size = (await reader.info(sha))?.size ?? Number.POSITIVE_INFINITY;
  if (size > MAX_TARGET_BYTES) return undefined;
  return (await reader.contents(sha))?.contents.toString("utf8").replace(/\n$/, "");
};

/** The targets of new and changed symbolic links, by path. A link that was not read is missing. */
export const readLinkTargets = async (
  reader: ObjectReader,
  changes: readonly Change[],
): Promise<ReadonlyMap<string, string>> => {
  const links = changes.filter(({ to }) => to?.mode === SYMBOLIC_LINK);
  if (links.length > MAX_READ_LINKS) return new Map();
  const targets = await Promise.all(
    links.map(async ({ path, to }) => [path, await readTarget(reader, to?.sha ?? "")] as const),
  );
  return new Map(targets.flatMap(([path, target]) => (target === undefined ? [] : [[path, target]])));
};
