import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { Repository } from "../../git/repository.ts";
import { listWorktrees } from "../../git/worktrees/worktreeList.ts";
import { configDirectoryPart } from "../../options/configDirectory.ts";
import { providerError } from "../../sandboxes/handle/openHandle.ts";
import type { UnlistedSandbox } from "../../sandboxes/leftovers.ts";
import { findLeftovers, providersWithLeftovers } from "../../sandboxes/registry.ts";
import type { Leftover } from "./leftover.ts";

const leftoverOf = (provider: string, { runId, description, doubt, remove }: UnlistedSandbox): Leftover => ({
  what: "sandbox",
  name: description,
  runIds: [runId],
  detail: doubt === undefined ? "its journal is gone, and its process is dead" : "its journal is gone",
  ...(doubt !== undefined && { keptBecause: doubt }),
  remove: interruptible(remove, providerError(provider, "it could not be removed")),
});

/** Finds sandboxes of this repository that no journal names, by the labels that some providers support. */
export const findUnlistedSandboxes = Effect.fnUntraced(function* (
  repository: Repository,
  /** Runs whose leftovers were found already. */
  known: ReadonlySet<string>,
): Effect.fn.Return<Leftover[]> {
  const { topLevel, configDirectory } = repository;
  const registered = yield* Effect.catch(listWorktrees(topLevel), () => Effect.succeed([]));
  const checkouts = new Set([topLevel, dirname(configDirectory), ...registered.map(({ path }) => path)]);
  const runs = configDirectoryPart(configDirectory, "runs");
  const isListed = (runId: string) => known.has(runId) || existsSync(join(runs, runId));
  const found = yield* Effect.forEach(
    providersWithLeftovers(),
    (provider) =>
      interruptible(
        async () => (await findLeftovers(provider))?.findUnlisted?.(checkouts, isListed) ?? [],
        () => undefined,
      ).pipe(
        Effect.map((sandboxes) => sandboxes.map((sandbox) => leftoverOf(provider, sandbox))),
        // Usually the provider's program is not installed.
        Effect.catch(() => Effect.succeed([])),
      ),
    { concurrency: "unbounded" },
  );
  return found.flat();
});
