import type { WrittenEntry } from "./checkEntry.ts";

/** Something that a run created, or was about to create, and has not removed as far as its journal says. */
export interface OwnedThing {
  readonly what: Extract<WrittenEntry, { type: "creating" }>["what"];
  readonly name: string;
  /** The location of a sandbox or a snapshot, if their provider has several. */
  readonly place?: string;
}

/** The suffix of a later sandbox of a run: one that replaced a lost sandbox, or one for tests. */
const LATER_SANDBOX = /^(?:-recovery|-tests(?:-\d{1,9})?)?$/;

/** The suffix of a snapshot that forks start from. */
const FORK = /^-fork-\d{1,9}$/;

/** Whether a sandbox was created for tests: no agent worked in it. */
export const isForTests = (sandboxName: string): boolean => /-tests(?:-\d{1,9})?$/.test(sandboxName);

/**
 * Whether a run can have created something of that name. Clean-up removes what a journal names, and a journal that came
 * with a commit may name any directory or process.
 */
const isOfRun = (runId: string, { what, name }: OwnedThing): boolean => {
  const first = `sanddune-${runId}`;
  if (what === "sandbox") return name.startsWith(first) && LATER_SANDBOX.test(name.slice(first.length));
  if (what === "snapshot") return name.startsWith(first) && FORK.test(name.slice(first.length));
  return what !== "host processes" || /^[0-9a-f]{32}$/.test(name);
};

/** The worktree that git was still creating when the run ended: no agent has worked in it. */
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

/** A snapshot is where the sandbox is, or was before it was removed. */
const withPlace = (runId: string, entries: readonly WrittenEntry[], thing: OwnedThing): OwnedThing => {
  if (thing.what !== "snapshot") return thing;
  for (const entry of entries) {
    if (entry.type === "placed" && entry.name === `sanddune-${runId}`)
      return { ...thing, place: entry.place };
  }
  return thing;
};

/** Everything that a run created and has not removed. */
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
  return [...owned.values()]
    .filter((thing) => isOfRun(runId, thing))
    .map((thing) => withPlace(runId, entries, thing));
};
