import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";
import { isGitError } from "./refs.ts";

/**
 * Lets the index of a checkout follow its branch after an import; its files are there already. What the user had
 * staged is kept; when that is impossible the index is left alone, and the resulting sentence says so.
 */
export const syncIndex = (
  checkoutPath: string,
  from: string,
  to: string,
): Effect.Effect<string | undefined, SandduneError> =>
  from === to
    ? Effect.succeed(undefined)
    : git(["read-tree", "-m", from, to], { cwd: checkoutPath }).pipe(
        Effect.as(undefined),
        Effect.catchIf(isGitError, (error) =>
          Effect.succeed(
            `The index of ${checkoutPath} could not follow the new commits and was left as it was (${error.stderr.trim()}). See: git status`,
          ),
        ),
      );
