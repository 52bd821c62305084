import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { namedObjects } from "./agentRefs.ts";

/** Whether refs of the host lead to all of the objects: git prunes unreachable ones some day. */
export const areReachable = (
  cwd: string,
  objects: readonly string[],
): Effect.Effect<boolean, SandduneError> =>
  git(["rev-list", "--objects", "--max-count=1", "--stdin", "--not", "--all"], {
    cwd,
    stdin: `${objects.join("\n")}\n`,
    // Some of them do not exist.
    expectedExitCodes: [128],
  }).pipe(Effect.map(({ stdout, exitCode }) => exitCode === 0 && stdout === ""));

/** Facts about an agent's git directory. */
export interface KnownObjects {
  /** Objects that refs of the host lead to. */
  readonly known?: ReadonlySet<string>;
  /** A ref in it that is not the agent's. */
  readonly ownRef?: string | undefined;
}

/**
 * Whether an agent's git directory has refs to objects that no ref of the host leads to. Git never runs in it, because
 * the agent could write its configuration. Counts as true if that cannot be determined.
 */
export const hasUnimportedCommits = (
  { topLevel: cwd }: Repository,
  gitDirectory: string,
  { known = new Set(), ownRef }: KnownObjects = {},
): Effect.Effect<boolean, SandduneError> =>
  Effect.suspend(() => {
    const named = namedObjects(gitDirectory, ownRef);
    if (named === undefined) return Effect.succeed(true);
    const asked = [...named].filter((name) => !known.has(name));
    if (asked.length === 0) return Effect.succeed(false);
    return git(["cat-file", "--batch-check"], { cwd, stdin: `${asked.join("\n")}\n` }).pipe(
      Effect.flatMap(({ stdout }) =>
        stdout.split("\n").some((line) => line.endsWith(" missing"))
          ? Effect.succeed(true)
          : Effect.map(areReachable(cwd, asked), (reachable) => !reachable),
      ),
    );
  });
