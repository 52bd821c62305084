import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import type { ConfigEntry } from "../../configFile.ts";
import { git } from "../../git.ts";
import { tryLockPacking } from "../../locks/locks.ts";
import type { Repository } from "../../repository.ts";
import { hasAlternates } from "../../sandboxDirectory/objectStores.ts";

/** The number of pack files from which git's own `gc --auto` puts them together. */
const DEFAULT_PACK_LIMIT = 50;

/** Zero if the user wants no such thing. */
const packLimitOf = (config: readonly ConfigEntry[]): number => {
  const valuesOf = (key: string) =>
    config.filter(([name]) => name === key).map(([, value]) => Number.parseInt(value, 10));
  // The last one is our own: it keeps git on the host from starting maintenance by itself.
  const [isWanted = 1] = valuesOf("gc.auto").slice(0, -1).slice(-1);
  return isWanted <= 0 ? 0 : (valuesOf("gc.autopacklimit").at(-1) ?? DEFAULT_PACK_LIMIT);
};

const countPacks = (directory: string): number => {
  const names = new Set(existsSync(directory) ? readdirSync(directory) : []);
  return [...names].filter((name) => name.endsWith(".pack") && !names.has(name.replace(/pack$/, "keep")))
    .length;
};

/** Git before 2.41 mixes up the packs of other stores, and those that a partial clone was promised. */
const isOrdinary = (store: string, config: readonly ConfigEntry[]): boolean =>
  !hasAlternates(store) && !config.some(([name]) => name === "extensions.partialclone");

/**
 * Every import leaves a pack file, and git on the host never starts maintenance by itself. Once there are as many as
 * git's own limit, the small ones are put together. No object is dropped, whether a ref leads to it or not.
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
    // The import has succeeded, and the next one tries again.
  }).pipe(Effect.ignore);
