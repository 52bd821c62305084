import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { namedObjects } from "./agentRefs.ts";

/** Having a commit is not enough: what no ref leads to is thrown away some day. */
const areReachable = (cwd: string, names: readonly string[]): Effect.Effect<boolean, SandduneError> =>
  git(["rev-list", "--objects", "--max-count=1", "--stdin", "--not", "--all"], {
    cwd,
    stdin: `${names.join("\n")}\n`,
  }).pipe(Effect.map(({ stdout }) => stdout === ""));

/** What is known of a git directory of an agent's. */
export interface KnownObjects {
  /** The host has these, and holds them by refs. */
  readonly known?: ReadonlySet<string>;
  /** A ref in it that is not the agent's. */
  readonly ownRef?: string | undefined;
}

/**
 * Whether a git directory that an agent had for its own names anything that no ref of the host leads to. Git is never run
 * in it: its configuration is the agent's. Whatever makes that unclear counts as a yes.
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
