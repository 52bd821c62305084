import { relative } from "node:path";
import type { NestedRepositories } from "./nestedRepositories.ts";

/** A repository in a checkout, as journals have it: its path in the checkout, in `latin1`, and what identifies it. */
export type NestedEntry = readonly [path: string, identity: string];

export const toJournalEntries = (checkoutPath: string, nested: NestedRepositories): NestedEntry[] => {
  const top = Buffer.from(checkoutPath).toString("latin1");
  return [...nested].map(([path, identity]) => [relative(top, path), identity]);
};

/**
 * Which of the repositories in a checkout are those that were there before. After a reboot a file system may have
 * another number; the numbers of files stay, and an agent cannot choose them.
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
