import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git } from "./git.ts";

export interface RegisteredWorktree {
  readonly path: string;
  /** `undefined` when its HEAD is detached. */
  readonly branch: string | undefined;
}

/** Every checkout of the repository, with the branch that is checked out in it. */
export const listWorktrees = (cwd: string): Effect.Effect<readonly RegisteredWorktree[], SandduneError> =>
  git(["worktree", "list", "--porcelain", "-z"], { cwd }).pipe(
    Effect.map(({ stdout }) =>
      stdout
        .split("\0\0")
        .filter((entry) => entry !== "")
        .map((entry) => {
          const lines = entry.split("\0");
          const fieldOf = (key: string) =>
            lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
          return {
            path: fieldOf("worktree") ?? "",
            branch: fieldOf("branch")?.replace(/^refs\/heads\//, ""),
          };
        }),
    ),
  );
