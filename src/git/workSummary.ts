import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { git, gitText } from "./git.ts";
import { nulSeparated } from "./output.ts";

/** A commit, for display. */
export interface CommitSummary {
  readonly sha: string;
  readonly short: string;
  readonly subject: string;
}

export interface FileSummary {
  readonly path: string;
  /** Lines; not set for a binary file. */
  readonly added?: number;
  readonly deleted?: number;
}

/** A summary of commits, for display. */
export interface WorkSummary {
  /** At most ten, oldest first. */
  readonly commits: readonly CommitSummary[];
  /** The changes of all commits together. */
  readonly files: readonly FileSummary[];
  /** The parent of the first commit. */
  readonly base: string;
  /** The branch that is checked out in the repository. */
  readonly currentBranch: string | undefined;
}

const MAX_COMMITS = 10;

/** The diff of a very large change takes longer than a summary is worth. */
const PATIENCE_MS = 2000;

const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

const emptyTreeFor = (sha: string): string => EMPTY_TREE[sha.length === 64 ? 64 : 40];

const parseCommits = (output: string): (CommitSummary & { readonly parent: string })[] =>
  output.split("\n").map((line) => {
    const [sha = "", short = "", parents = "", ...subject] = line.split("\t");
    return { sha, short, parent: parents.split(" ", 1).join(""), subject: subject.join(" ") };
  });

const parseFiles = (output: string): FileSummary[] =>
  nulSeparated(output).map((entry) => {
    const [added = "", deleted = "", ...path] = entry.split("\t");
    return {
      path: path.join("\t"),
      ...(added !== "-" && { added: Number(added), deleted: Number(deleted) }),
    };
  });

const currentBranch = (cwd: string) =>
  git(["symbolic-ref", "--quiet", "--short", "HEAD"], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map(({ stdout }) => stdout.trim() || undefined),
  );

const read = Effect.fnUntraced(function* (cwd: string, commits: readonly string[]) {
  const listed = commits.slice(0, MAX_COMMITS);
  const last = commits.at(-1) ?? "";
  const [described, branch] = yield* Effect.all(
    [
      gitText(["log", "--no-walk=unsorted", "--format=%H%x09%h%x09%P%x09%s", ...listed, "--"], { cwd }),
      currentBranch(cwd),
    ],
    { concurrency: "unbounded" },
  );
  const summaries = parseCommits(described);
  const base = summaries[0]?.parent || emptyTreeFor(last);
  const changed = yield* gitText(
    ["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", base, last, "--"],
    { cwd },
  );
  return { commits: summaries, files: parseFiles(changed), base, currentBranch: branch };
});

/** Summarises the commits of a run, which are given oldest first; `undefined` if that fails or takes too long. */
export const summariseWork = (
  cwd: string,
  commits: readonly string[],
): Effect.Effect<WorkSummary | undefined> =>
  commits.length === 0
    ? Effect.succeed(undefined)
    : read(cwd, commits).pipe(
        Effect.timeout(PATIENCE_MS),
        Effect.catchCause(() => Effect.succeed(undefined)),
        // In a fiber of its own: the fiber of an aborted run is interrupted already.
        Effect.forkDetach,
        Effect.flatMap(Fiber.join),
      );
