import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { gitText } from "../../git/git.ts";
import { updateRefs } from "../../git/refs.ts";
import { RUN_REFS, runOfRef } from "../../git/runRefs.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

const runRefs = ({ repository, selected }: CleanScope) =>
  gitText(["for-each-ref", "--format=%(objectname) %(refname)", RUN_REFS], {
    cwd: repository.topLevel,
  }).pipe(
    Effect.map((output) =>
      output
        .split("\n")
        .map((line) => line.split(" "))
        .flatMap(([sha = "", ref = ""]) => {
          const run = selected.find(({ runId }) => runId === runOfRef(ref));
          return run === undefined ? [] : [{ ref, sha, run }];
        }),
    ),
  );

const isHeldElsewhere = (cwd: string, sha: string): Effect.Effect<boolean, SandduneError> =>
  gitText(
    [
      "for-each-ref",
      "--count=1",
      "--format=%(refname)",
      `--contains=${sha}`,
      "refs/heads",
      "refs/tags",
      "refs/remotes",
    ],
    { cwd },
  ).pipe(Effect.map((held) => held !== ""));

/** Finds refs of runs: the commits that they started from, and commits that could not go on a branch. */
export const findRefs = Effect.fnUntraced(function* (
  scope: CleanScope,
  /** Runs whose files are kept: the commits that those build on must be kept as well. */
  keepsFiles: ReadonlySet<string>,
): Effect.fn.Return<Leftover[], SandduneError> {
  const cwd = scope.repository.topLevel;
  if (scope.selected.length === 0) return [];
  return yield* Effect.forEach(
    yield* runRefs(scope),
    Effect.fnUntraced(function* ({ ref, sha, run }): Effect.fn.Return<Leftover, SandduneError> {
      const isNeeded = keepsFiles.has(run.runId) || scope.unsettled.has(run.runId);
      const held = yield* isHeldElsewhere(cwd, sha);
      const keep = isNeeded
        ? { keptBecause: "files of the run that are kept build on it" }
        : unlessNamed(scope.namedRuns.has(run.runId), held ? undefined : "no branch has these commits");
      return {
        what: "ref",
        name: ref,
        runIds: [run.runId],
        detail: `at ${sha}`,
        ...keep,
        remove: updateRefs(cwd, [{ ref, to: undefined, from: sha }]),
      };
    }),
  );
});
