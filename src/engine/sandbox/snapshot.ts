import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { interruptible } from "../../boundary/interruptible.ts";
import { SandboxError, type SandduneError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { ownedThings } from "../../runs/journal/ownedThings.ts";
import { readJournal } from "../../runs/journal/readJournal.ts";
import type { SandboxProvider, SandboxSnapshot } from "../../sandboxes/contract.ts";
import { findLeftovers } from "../../sandboxes/registry.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { Session } from "../session/session.ts";
import type { SandboxSession } from "./sandboxSession.ts";

const LIMIT = { timeoutMs: 60_000 };

/** State of a sandbox that others start from. */
export interface TakenSnapshot {
  readonly snapshot: SandboxSnapshot;
  /** A sandbox starts from it, and ends before the scope is closed. */
  readonly use: Effect.Effect<void, never, Scope.Scope>;
}

/** Looks for a snapshot as `sanddune clean` does. */
const lookFor = async (
  { journal, plan: { runId } }: Session,
  provider: SandboxProvider,
  name: string,
): Promise<{ readonly canBeFound: boolean; readonly left?: string | undefined }> => {
  const known = provider.leftovers ?? (await findLeftovers(provider.name));
  const find = known?.findSnapshot?.bind(known);
  if (find === undefined) return { canBeFound: false };
  const owned = ownedThings(runId, readJournal(journal.runDirectory));
  const place = owned.find((thing) => thing.name === name)?.place;
  const snapshot = { name, runId, ...(place !== undefined && { place }) };
  return { canBeFound: true, left: await inTime((signal) => find(snapshot, signal), LIMIT) };
};

/**
 * Keeps the state of a sandbox until the scope is closed. The journal of the sandbox names it before it exists, and as long as
 * something is left of it: an engine keeps its image while forks use it.
 */
export const takeSnapshot = Effect.fnUntraced(function* (
  sandbox: SandboxSession,
  provider: SandboxProvider,
): Effect.fn.Return<TakenSnapshot, SandduneError, Scope.Scope> {
  const { journal, plan, progress } = sandbox.owner;
  const { handle } = sandbox.repository;
  sandbox.snapshotCount++;
  const name = `sanddune-${plan.runId}-fork-${sandbox.snapshotCount}`;
  const directory = join(journal.filesDirectory, `snapshot-${sandbox.snapshotCount}`);
  let taken: SandboxSnapshot | undefined;
  let isRemoved = false;
  const settle = async (): Promise<void> => {
    const { canBeFound, left } = await lookFor(sandbox.owner, provider, name);
    if (taken === undefined && left !== undefined)
      throw new Error(`${left} is left. Remove it: ${sandduneCommand("clean")}`);
    // A snapshot that failed may come to exist later, so the journal keeps its name.
    if (left === undefined && (taken !== undefined || !canBeFound))
      journal.tell({ type: "removed", what: "snapshot", name });
  };
  journal.write({ type: "creating", what: "snapshot", name });
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      try {
        const snapshot = taken;
        if (snapshot !== undefined) await inTime(async () => provider.removeSnapshot?.(snapshot), LIMIT);
        await removeDirectory(directory);
        isRemoved = true;
        await settle();
      } catch (error) {
        progress.warn(`The snapshot ${name} could not be removed: ${messageOf(error)}`);
      }
    }),
  );
  const snapshot = yield* interruptible(async (signal) => {
    await mkdir(directory, { mode: 0o700 });
    const state = await handle.snapshot?.({ name, directory, signal });
    if (state === undefined) throw new SandboxError(provider.name, "its state cannot be kept");
    taken = { name, directory, state };
    return taken;
  });
  const end = Effect.promise(async () => {
    // If that is unknown, `sanddune clean` looks again.
    if (isRemoved) await settle().catch(() => {});
  });
  return { snapshot, use: Effect.addFinalizer(() => end) };
});
