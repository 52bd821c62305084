import * as Effect from "effect/Effect";
import type { SandduneError } from "../errors.ts";
import { git, gitText } from "./git.ts";
import { isProtectedPath } from "./protectedPaths.ts";

/** The run's own commits, oldest first: in the history of `tip`, but not among what the host knew before. */
export const listOwnCommits = (
  cwd: string,
  tip: string,
  knownCommits: readonly string[],
): Effect.Effect<string[], SandduneError> =>
  gitText(["rev-list", "--reverse", "--topo-order", "--stdin"], {
    cwd,
    stdin: `${tip}\n${knownCommits.map((sha) => `^${sha}\n`).join("")}`,
  }).pipe(Effect.map((output) => output.split("\n").filter((line) => line !== "")));

/** Files that the run changed and that run by themselves on a developer's machine. */
export const listProtectedPaths = (
  cwd: string,
  base: string,
  tip: string,
): Effect.Effect<string[], SandduneError> =>
  git(["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", base, tip], {
    cwd,
  }).pipe(
    Effect.map(({ stdout }) => stdout.split("\0").filter((path) => path !== "" && isProtectedPath(path))),
  );
