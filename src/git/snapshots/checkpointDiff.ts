import { runAtBoundary } from "../../boundary/boundary.ts";
import { git, gitText, hadTooMuchOutput } from "../git.ts";
import { isObjectName } from "../objectName.ts";
import { listRefs } from "../refs.ts";
import { checkpointRefs } from "../runRefs.ts";
import type { Checkpoint } from "./checkpoint.ts";

/** The change of a file by a commit. */
export interface ChangedFile {
  readonly path: string;
  /** Lines; `undefined` for a binary file. */
  readonly added: number | undefined;
  readonly removed: number | undefined;
}

/** Runs no configured program. Large files are binary: diffing lines takes several times their size. */
const DIFF_TREE = ["-c", "core.bigFileThreshold=8m", "diff-tree", "-r", "--root"] as const;
const PLAIN = ["--no-ext-diff", "--no-textconv", "--no-color"] as const;

/** The checkpoints of a run in this repository, in order. */
export const listCheckpoints = async (cwd: string, runId: string): Promise<Checkpoint[]> => {
  const prefix = checkpointRefs(runId);
  return (await runAtBoundary(listRefs(cwd, prefix)))
    .map(({ name, sha }) => ({ sha, number: Number(name.slice(prefix.length)) }))
    .filter(({ number }) => Number.isInteger(number))
    .sort((a, b) => a.number - b.number);
};

const NUMBERS = /^(\d+|-)\t(\d+|-)\t(.*)$/s;

const lines = (text: string | undefined): number | undefined =>
  text === undefined || text === "-" ? undefined : Number(text);

/** The files that each commit has changed, by the commit. */
export const changesOf = async (
  cwd: string,
  commits: readonly string[],
): Promise<ReadonlyMap<string, readonly ChangedFile[]>> => {
  const changes = new Map<string, ChangedFile[]>(commits.map((commit) => [commit, []]));
  if (commits.length === 0) return changes;
  const { stdout } = await runAtBoundary(
    git([...DIFF_TREE, "--stdin", "--no-renames", "--numstat", "-z", ...PLAIN], {
      cwd,
      stdin: `${commits.join("\n")}\n`,
    }),
  );
  let commit = "";
  for (const part of stdout.split("\0")) {
    const [, added, removed, path] = NUMBERS.exec(part) ?? [];
    if (isObjectName(part)) commit = part;
    else if (path !== undefined)
      changes.get(commit)?.push({ path, added: lines(added), removed: lines(removed) });
  }
  return changes;
};

/** The changes of a commit, as a patch. */
export const patchOf = async (cwd: string, commit: string): Promise<string> => {
  const args = [...DIFF_TREE, "--no-commit-id", "--find-renames", "--patch", ...PLAIN, commit];
  try {
    return await runAtBoundary(gitText(args, { cwd }));
  } catch (error) {
    if (!hadTooMuchOutput(error)) throw error;
    return `The patch is too large to be shown here. See: git show ${commit}`;
  }
};
