import { interruptible } from "../../boundary/interruptible.ts";
import { deadLocks, removeDeadLock } from "../../git/locks/lockFile.ts";
import { locksDirectory } from "../../git/locks/locks.ts";
import { removeTrialOf } from "../../git/overlay/trialDirectory.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** Finds locks whose owner is dead. The next run would take them over anyway. */
export const findLocks = ({ repository, namedRuns, namedBranches }: CleanScope): Leftover[] =>
  namedRuns.size + namedBranches.size > 0
    ? []
    : deadLocks(locksDirectory(repository)).map(({ path, owner }) => ({
        what: "lock",
        name: path,
        runIds: [],
        detail: `of ${owner.purpose}, process ${owner.pid}, which is dead`,
        remove: interruptible(async () => {
          await removeTrialOf(repository, path);
          removeDeadLock(path);
        }),
      }));
