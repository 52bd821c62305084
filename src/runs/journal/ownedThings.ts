import type { WrittenEntry } from "./checkEntry.ts";

/** Something that a run has made, or was about to make, and is not known to have removed. */
export interface OwnedThing {
  readonly what: Extract<WrittenEntry, { type: "creating" }>["what"];
  readonly name: string;
  /** Where a sandbox is, if its provider has several places. */
  readonly place?: string;
}

/** What comes after the name of a run's first sandbox: it was lost, or tests have one of their own. */
const LATER_SANDBOX = /^(?:-recovery|-tests(?:-\d{1,9})?)?$/;

/** Whether a sandbox is one in which no agent ever was. */
export const isForTests = (sandboxName: string): boolean => /-tests(?:-\d{1,9})?$/.test(sandboxName);

/**
 * Whether a run can have made something of that name. A journal that came with somebody's commit may name anything, and
 * what it names is removed: directories with the name of a sandbox, processes with an id.
 */
const isOfRun = (runId: string, { what, name }: OwnedThing): boolean => {
  const first = `sanddune-${runId}`;
  if (what === "sandbox") return name.startsWith(first) && LATER_SANDBOX.test(name.slice(first.length));
  return what !== "host processes" || /^[0-9a-f]{32}$/.test(name);
};

/** The worktree that git was making when the run came to its end: no agent has ever worked in it. */
export const unfinishedWorktree = (entries: readonly WrittenEntry[]): string | undefined => {
  let unfinished: string | undefined;
  for (const entry of entries) {
    if (entry.type === "creating" && entry.what === "worktree")
      unfinished = entry.isNew ? entry.name : undefined;
    else if ((entry.type === "created" || entry.type === "removed") && entry.name === unfinished)
      unfinished = undefined;
  }
  return unfinished;
};

/** What a run has made and not removed since. */
export const ownedThings = (runId: string, entries: readonly WrittenEntry[]): OwnedThing[] => {
  const owned = new Map<string, OwnedThing>();
  for (const entry of entries) {
    if (entry.type !== "creating" && entry.type !== "placed" && entry.type !== "removed") continue;
    const key = `${entry.what} ${entry.name}`;
    if (entry.type === "creating") owned.set(key, { what: entry.what, name: entry.name });
    else if (entry.type === "placed")
      owned.set(key, { what: entry.what, name: entry.name, place: entry.place });
    else owned.delete(key);
  }
  return [...owned.values()].filter((thing) => isOfRun(runId, thing));
};
