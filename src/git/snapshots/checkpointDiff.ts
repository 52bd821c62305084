import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { git, gitText, hadTooMuchOutput } from "../git.ts";
import { isObjectName } from "../objectName.ts";
import { checkpointRefs } from "../runRefs.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** How a file differs from what it was a commit before. */
export interface ChangedFile {
  readonly path: string;
  /** Lines; `undefined` for a file that has none. */
  readonly added: number | undefined;
  readonly removed: number | undefined;
}

/**
 * Nothing that a file or the configuration could name is run, and of large files nothing but that they differ is found out: lines
 * of them take more memory than they have bytes.
 */
const DIFF_TREE = ["-c", "core.bigFileThreshold=8m", "diff-tree", "-r", "--root"] as const;
const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color"] as const;

/** The checkpoints of a run that are here, in order. */
export const listCheckpoints = (cwd: string, runId: string): Effect.Effect<Checkpoint[], SandduneError> => {
  const prefix = checkpointRefs(runId);
  return gitText(["for-each-ref", "--format=%(objectname) %(refname)", prefix], { cwd }).pipe(
    Effect.map((output) =>
      output
        .split("\n")
        .map((line) => line.split(" "))
        .map(([sha = "", ref = ""]) => ({ sha, number: Number(ref.slice(prefix.length)) }))
        .filter(({ sha, number }) => sha !== "" && Number.isInteger(number))
        .sort((a, b) => a.number - b.number),
    ),
  );
};

const NUMBERS = /^(\d+|-)\t(\d+|-)\t(.*)$/s;

const lines = (text: string | undefined): number | undefined =>
  text === undefined || text === "-" ? undefined : Number(text);

/** What each of some commits has changed, by the commit. */
export const changesOf = (
  cwd: string,
  commits: readonly string[],
): Effect.Effect<ReadonlyMap<string, readonly ChangedFile[]>, SandduneError> => {
  if (commits.length === 0) return Effect.succeed(new Map());
  return git([...DIFF_TREE, "--stdin", "--no-renames", "--numstat", "-z", ...PLAIN], {
    cwd,
    stdin: `${commits.join("\n")}\n`,
  }).pipe(
    Effect.map(({ stdout }) => {
      const changes = new Map<string, ChangedFile[]>(commits.map((commit) => [commit, []]));
      let commit = "";
      for (const part of stdout.split("\0")) {
        const [, added, removed, path] = NUMBERS.exec(part) ?? [];
        if (isObjectName(part)) commit = part;
        else if (path !== undefined)
          changes.get(commit)?.push({ path, added: lines(added), removed: lines(removed) });
      }
      return changes;
    }),
  );
};

/** What a commit has changed, as a patch. */
export const patchOf = (cwd: string, commit: string): Effect.Effect<string, SandduneError> =>
  gitText([...DIFF_TREE, "--no-commit-id", "--find-renames", "--patch", ...PLAIN, commit], { cwd }).pipe(
    Effect.catchIf(hadTooMuchOutput, () =>
      Effect.succeed(`The patch is too large to be shown here. See: git show ${commit}`),
    ),
  );
