import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import {
  isBeingFilled,
  listSetupPaths,
  readKeptSetup,
  readRecord,
  type SetupRecord,
} from "../../git/setups/keptSetup.ts";
import { discardSetup } from "../../git/setups/storeSetup.ts";
import { isDraft } from "../../git/sharedDirectories/sharedDirectory.ts";
import { isUsed } from "../../git/sharedDirectories/users.ts";
import { providerError } from "../../sandboxes/handle/openHandle.ts";
import { findProvider } from "../../sandboxes/registry.ts";
import { removeSnapshot, whyUnreachable } from "../../sandboxes/snapshots.ts";
import { ageOf } from "../../tools/age.ts";
import { briefly } from "../../tools/shorten.ts";
import { isObject, isText } from "../../tools/values/predicates.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

const MEGABYTE = 1024 * 1024;

const IMAGE_ID = /^(?:sha256:)?([0-9a-f]{12})[0-9a-f]{52} /;

/** The provider, and the image as engines list it. */
const sandboxOf = ({ provider, key }: SetupRecord): string => {
  const hasImage = findProvider(provider)?.imageEngine !== undefined;
  const base = hasImage && isObject(key) && isText(key["base"]) ? key["base"] : "";
  const [, image] = IMAGE_ID.exec(base) ?? [];
  return image === undefined ? provider : `${provider}, image ${image}`;
};

const describe = (path: string): string => {
  const kept = readKeptSetup(path);
  if (isDraft(path)) return "unfinished, or discarded";
  if (kept === undefined) return "not complete, or another user could have written it";
  const { commands, bytes, madeAt } = kept.record;
  return `${commands.map((command) => briefly(command, 80)).join("; ")} (${sandboxOf(kept.record)}): ${(bytes / MEGABYTE).toFixed(1)} MB in the worktree, ${ageOf(madeAt)} old`;
};

/** Why the provider's part of it cannot be removed here. */
const whyKept = (path: string): Effect.Effect<string | undefined> => {
  const record = readRecord(path);
  if (record === undefined) return Effect.succeed(undefined);
  const { provider, place, snapshotName: name } = record;
  return interruptible(
    () => whyUnreachable(provider, { name, place }),
    providerError(provider, "its place is not known"),
  ).pipe(Effect.catch(({ message }) => Effect.succeed(message)));
};

/** Finds the kept set-ups that no run uses. The next run with the same hooks makes the one that it needs. */
export const findKeptSetups = ({
  repository,
  namedRuns,
  namedBranches,
}: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(
    namedRuns.size + namedBranches.size > 0
      ? []
      : listSetupPaths(repository).filter((path) => !isUsed(repository, path) && !isBeingFilled(path)),
    (path) =>
      Effect.map(whyKept(path), (keptBecause) => ({
        what: "kept set-up",
        name: path,
        runIds: [],
        detail: describe(path),
        ...(keptBecause !== undefined && { keptBecause }),
        remove: discardSetup(repository, path, removeSnapshot),
      })),
  );
