import { relative } from "node:path";
import { fromText } from "../output.ts";
import type { NestedRepositories } from "./findNestedRepositories.ts";

/** A nested repository in a run's journal: its path in the checkout, in `latin1`, and its identity. */
export type NestedEntry = readonly [path: string, identity: string];

export const toJournalEntries = (checkoutPath: string, nested: NestedRepositories): NestedEntry[] => {
  const top = fromText(checkoutPath);
  return [...nested].map(([path, identity]) => [relative(top, path), identity]);
};

/**
 * The found repositories that are in the journal. After a reboot, the device number of a file system may differ; inode
 * numbers stay the same, and an agent cannot choose them.
 */
export const stillPresent = (
  found: NestedRepositories,
  before: readonly NestedEntry[],
  { isSameBoot }: { readonly isSameBoot: boolean },
): NestedRepositories => {
  const keyOf = (identity: string) => (isSameBoot ? identity : identity.replace(/^.*:/, ""));
  const known = new Set(before.map(([, identity]) => keyOf(identity)));
  return new Map([...found].filter(([, identity]) => known.has(keyOf(identity))));
};
