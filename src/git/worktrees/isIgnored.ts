import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git } from "../git.ts";

/** Whether git ignores a path of a checkout. A path with a slash at its end is a directory. */
export const isIgnored = (cwd: string, path: string): Effect.Effect<boolean, SandduneError> =>
  git(["check-ignore", "--quiet", "--", path], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map(({ exitCode }) => exitCode === 0),
  );
