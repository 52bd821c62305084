import { lstatSync, renameSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { runProcess } from "../process/runProcess.ts";

/** The `.git` entries below the top of a checkout, each with what identifies it on its file system. */
export type NestedRepositories = ReadonlyMap<string, string>;

const identify = (path: string): string | undefined => {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat && `${stat.dev}:${stat.ino}`;
};

/** Looks everywhere: git enters a nested repository as soon as somebody works in the directory that holds it. */
export const findNestedRepositories = (
  checkoutPath: string,
): Effect.Effect<NestedRepositories, SandduneError> =>
  interruptible(
    (signal) =>
      runProcess({
        program: "find",
        args: [
          checkoutPath,
          "-mindepth",
          "1",
          "(",
          "-path",
          join(checkoutPath, ".git"),
          "-o",
          "-path",
          join(checkoutPath, ".sanddune"),
          ")",
          "-prune",
          "-o",
          "-iname",
          ".git",
          "-print0",
        ],
        captureBytes: 64 * 1024 * 1024,
        signal,
      }),
    (reason) => reason as SandduneError,
  ).pipe(
    Effect.map(({ stdout }) => {
      const found = new Map<string, string>();
      for (const path of stdout.split("\0")) {
        const identity = path === "" ? undefined : identify(path);
        if (identity !== undefined) found.set(path, identity);
      }
      return found;
    }),
  );

/**
 * Renames the repositories that the agent has put into a checkout. Their configuration names programs, and a plain
 * `git status` of the user's would run them: in the directory itself or, if it was committed as a submodule, from
 * anywhere in the checkout.
 */
export const disarmNestedRepositories = Effect.fnUntraced(function* (
  checkoutPath: string,
  before: NestedRepositories,
  runId: string,
): Effect.fn.Return<string[], SandduneError> {
  const known = new Set(before.values());
  const found = yield* findNestedRepositories(checkoutPath);
  return [...found]
    .filter(([, identity]) => !known.has(identity))
    .map(([path]) => {
      const renamed = join(dirname(path), `.git.sanddune-${runId}`);
      renameSync(path, renamed);
      return `The agent made a git repository in ${JSON.stringify(relative(checkoutPath, dirname(path)))}. Its settings could run programs on your machine, so its .git was renamed to ${renamed}.`;
    });
});
