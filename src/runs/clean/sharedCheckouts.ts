import { existsSync } from "node:fs";
import { basename } from "node:path";
import * as Effect from "effect/Effect";
import { lockSharedCheckouts } from "../../git/locks/locks.ts";
import { discardShared } from "../../git/overlay/openSharedCheckout.ts";
import { listSharedPaths } from "../../git/overlay/sharedCheckout.ts";
import { isDraft } from "../../git/sharedDirectories/sharedDirectory.ts";
import { isUsed } from "../../git/sharedDirectories/users.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** Finds the shared checkouts that lie under no overlay. The next run makes the one that it needs. */
export const findSharedCheckouts = ({ repository, namedRuns, namedBranches }: CleanScope): Leftover[] =>
  namedRuns.size + namedBranches.size > 0
    ? []
    : listSharedPaths(repository)
        .filter((path) => !isUsed(repository, path))
        .map((path) => ({
          what: "shared checkout",
          name: path,
          runIds: [],
          detail: isDraft(path)
            ? "unfinished, or replaced"
            : `files of commit ${basename(path).slice(0, 10)}`,
          remove: Effect.scoped(
            lockSharedCheckouts(repository).pipe(
              // A run may have chosen it since, finished or discarded it.
              Effect.andThen(
                Effect.suspend(() =>
                  !existsSync(path) || isUsed(repository, path)
                    ? Effect.void
                    : discardShared(repository, path),
                ),
              ),
            ),
          ),
        }));
