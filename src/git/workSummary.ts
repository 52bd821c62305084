import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { type CommitDescription, DESCRIPTION_FORMAT, parseDescriptions } from "./commitDescription.ts";
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

export const MAX_SUMMARISED = 10;

/** The diff of a very large change takes longer than a summary is worth. */
const PATIENCE_MS = 2000;

const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

const emptyTreeFor = (sha: string): string => EMPTY_TREE[sha.length === 64 ? 64 : 40];

const parseFiles = (output: string): FileSummary[] =>
  nulSeparated(output).map((entry) => {
    const [added = "", deleted = "", ...path] = entry.split("\t");
    return {
      path: path.join("\t"),
      ...(added !== "-" && { added: Number(added), deleted: Number(deleted) }),
    };
  });

const baseOf = ([first]: readonly CommitDescription[]): string | undefined => first?.parents[0];

/** Facts that git need not be asked for. */
export interface KnownToSummary {
  /** The branch that is checked out, `""` if HEAD is detached. */
  readonly branch?: string | undefined;
  /** The commits, from the first on. */
  readonly described?: readonly CommitDescription[];
}

const askBranch = (cwd: string) =>
  git(["symbolic-ref", "--quiet", "--short", "HEAD"], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map(({ stdout }) => stdout.trim()),
  );

const NUMSTAT = ["--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"] as const;

/** The user may have told git to show signatures, between the lines that are parsed. */
const LOG = ["log", "--no-show-signature", DESCRIPTION_FORMAT] as const;

/** One commit and its changes are one question to git. */
const readOne = (cwd: string, commit: string) =>
  gitText([...LOG, "--max-count=1", "--root", "--diff-merges=first-parent", ...NUMSTAT, commit, "--"], {
    cwd,
  }).pipe(
    Effect.map((output) => {
      const [described = "", ...changed] = output.split("\0");
      return { summaries: parseDescriptions(described), changed: changed.join("\0").replace(/^\n/, "") };
    }),
  );

const describe = (cwd: string, commits: readonly string[]) =>
  gitText([...LOG, "--no-walk=unsorted", ...commits, "--"], { cwd }).pipe(Effect.map(parseDescriptions));

const readSeveral = Effect.fnUntraced(function* (
  cwd: string,
  commits: readonly string[],
  known: readonly CommitDescription[],
) {
  const listed = commits.slice(0, MAX_SUMMARISED);
  const isKnown = listed.every((sha, index) => known[index]?.sha === sha);
  const summaries = isKnown ? known.slice(0, listed.length) : yield* describe(cwd, listed);
  const last = commits.at(-1) ?? "";
  const base = baseOf(summaries) ?? emptyTreeFor(last);
  return { summaries, changed: yield* gitText(["diff", ...NUMSTAT, base, last, "--"], { cwd }) };
});

const read = Effect.fnUntraced(function* (
  cwd: string,
  commits: readonly string[],
  { branch, described = [] }: KnownToSummary,
) {
  const [first = "", ...others] = commits;
  const [{ summaries, changed }, currentBranch] = yield* Effect.all(
    [
      others.length === 0 && described.length === 0
        ? readOne(cwd, first)
        : readSeveral(cwd, commits, described),
      branch === undefined ? askBranch(cwd) : Effect.succeed(branch),
    ],
    { concurrency: "unbounded" },
  );
  return {
    commits: summaries.map(({ sha, short, subject }) => ({ sha, short, subject })),
    files: parseFiles(changed),
    base: baseOf(summaries) ?? emptyTreeFor(first),
    currentBranch: currentBranch || undefined,
  };
});

/** Summarises the commits of a run, which are given oldest first; `undefined` if that fails or takes too long. */
export const summariseWork = (
  cwd: string,
  commits: readonly string[],
  known: KnownToSummary = {},
): Effect.Effect<WorkSummary | undefined> =>
  commits.length === 0
    ? Effect.succeed(undefined)
    : read(cwd, commits, known).pipe(
        Effect.timeout(PATIENCE_MS),
        Effect.catchCause(() => Effect.succeed(undefined)),
        // In a fiber of its own: the fiber of an aborted run is interrupted already.
        Effect.forkDetach,
        Effect.flatMap(Fiber.join),
      );
