import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { ConfigEntry } from "../../configFile.ts";
import { git } from "../../git.ts";
import { tryLockPacking } from "../../locks/locks.ts";
import type { Repository } from "../../repository.ts";
import { hasAlternates } from "../../sandboxDirectory/objectStores.ts";

/** The default of `gc.autoPackLimit`, above which `git gc --auto` repacks. */
const DEFAULT_PACK_LIMIT = 50;

/** Zero if the user has disabled automatic maintenance. */
const packLimitOf = (config: readonly ConfigEntry[]): number => {
  const valuesOf = (key: string) =>
    config.filter(([name]) => name === key).map(([, value]) => Number.parseInt(value, 10));
  // The last value is the one with which sanddune runs git.
  const [isWanted = 1] = valuesOf("gc.auto").slice(0, -1).slice(-1);
  return isWanted <= 0 ? 0 : (valuesOf("gc.autopacklimit").at(-1) ?? DEFAULT_PACK_LIMIT);
};

const countPacks = (directory: string): number => {
  const names = new Set(existsSync(directory) ? readdirSync(directory) : []);
  return [...names].filter((name) => name.endsWith(".pack") && !names.has(name.replace(/pack$/, "keep")))
    .length;
};

/** Before 2.41, geometric repacking mishandles alternates and the promisor packs of partial clones. */
const isOrdinary = (store: string, config: readonly ConfigEntry[]): boolean =>
  !hasAlternates(store) && !config.some(([name]) => name === "extensions.partialclone");

/**
 * Combines small pack files once there are more than git's own limit: every import adds one, and sanddune disables
 * git's automatic maintenance. Unreachable objects are kept.
 */
export const consolidatePacks = (
  repository: Repository,
  config: readonly ConfigEntry[],
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const store = join(repository.commonDirectory, "objects");
    const limit = packLimitOf(config);
    if (limit <= 0 || countPacks(join(store, "pack")) <= limit || !isOrdinary(store, config))
      return Effect.void;
    return Effect.scoped(
      Effect.flatMap(tryLockPacking(repository), (isLocked) =>
        isLocked
          ? git(["repack", "--geometric=2", "-d", "-q"], { cwd: repository.topLevel }).pipe(Effect.asVoid)
          : Effect.void,
      ),
    );
    // A failure does not fail the import, and the next one tries again.
  }).pipe(Effect.ignore);
