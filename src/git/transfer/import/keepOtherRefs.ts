import * as Effect from "effect/Effect";
import type { SandduneError } from "../../../errors.ts";
import type { KeptRef } from "../../../options/results.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import { git, gitText } from "../../git.ts";
import { listRefs, updateRefs } from "../../refs.ts";
import { keptRefFor, keptRefs, RUN_REFS } from "../../runRefs.ts";

/** The refs of a bundle, with their objects. */
export type Heads = ReadonlyMap<string, string>;

export interface OtherRefsTarget {
  readonly cwd: string;
  readonly runId: string;
  readonly onKept?: (kept: readonly KeptRef[]) => void;
}

/** Further refs are kept too, and reported by their number. */
const MAX_REPORTED = 20;

const describe = (name: string, type: string, ownRefs: string | undefined): string => {
  const own = ownRefs !== undefined && name.startsWith(ownRefs) ? name.slice(ownRefs.length) : undefined;
  if (name === "refs/stash" || own?.startsWith("stash-")) return "stashed changes";
  if (own !== undefined) return "left commits that no branch leads to";
  if (name === "HEAD") return "committed to a detached HEAD";
  if (name.startsWith("worktrees/")) return `committed in the worktree ${JSON.stringify(name.split("/")[1])}`;
  const shown = JSON.stringify(name.replace(/^refs\/(heads|tags)\//, ""));
  if (name.startsWith("refs/tags/"))
    return type === "commit" ? `tagged commits as ${shown}` : `made the tag ${shown}`;
  if (type !== "commit") return `made the ref ${shown}`;
  return `committed to ${shown}`;
};

/** The command that makes a branch of a kept ref. None for a leading dash: git would read an option. */
const asBranch = (name: string, ref: string): string => {
  const [, branch] = /^refs\/heads\/([^-].*)$/s.exec(name) ?? [];
  return branch === undefined ? "" : ` To make a branch of it: git branch ${shellQuote(branch)} ${ref}`;
};

const typesOf = (
  cwd: string,
  objects: readonly string[],
): Effect.Effect<Map<string, string>, SandduneError> =>
  gitText(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    cwd,
    stdin: `${objects.join("\n")}\n`,
  }).pipe(
    Effect.map((output) => new Map(output.split("\n").map((line) => line.split(" ") as [string, string]))),
  );

/** Commits that no ref of the host and no other one leads to. Of the run's refs, only `lasting` count. */
const independentOf = (
  { cwd, runId }: OtherRefsTarget,
  commits: readonly string[],
  lasting: readonly string[],
): Effect.Effect<Set<string>, SandduneError> =>
  git(
    [
      ...["rev-list", "--parents", "--stdin", "--not"],
      ...[`--exclude=${RUN_REFS}base/*`, `--exclude=${keptRefs(runId)}*`, "--all"],
    ],
    { cwd, stdin: [...commits, ...lasting.map((object) => `^${object}`), ""].join("\n") },
  ).pipe(
    Effect.map(({ stdout }) => {
      const lines = stdout.split("\n").map((line) => line.split(" "));
      const listed = new Set(lines.map(([commit = ""]) => commit));
      const parents = new Set(lines.flatMap(([, ...others]) => others));
      return new Set(commits.filter((commit) => listed.has(commit) && !parents.has(commit)));
    }),
  );

/** Decides which name of a commit is reported: a branch rather than a tag, any ref rather than HEAD. */
const rankOf = (name: string): number =>
  ["refs/heads/", "refs/stash", "refs/tags/", "refs/"].findIndex((prefix) => name.startsWith(prefix)) + 1 ||
  9;

const uniqueByObject = (refs: readonly (readonly [string, string])[]): [string, string][] => {
  const names = new Map<string, string>();
  for (const [name, object] of [...refs].sort(([one], [other]) => rankOf(one) - rankOf(other))) {
    if (!names.has(object)) names.set(object, name);
  }
  return [...names].map(([object, name]) => [name, object]);
};

/** Keeps the agent's other refs under refs of the run, and returns a sentence for each. */
export const keepOtherRefs = Effect.fnUntraced(function* (
  target: OtherRefsTarget,
  heads: Heads,
  ownRefs: string | undefined,
): Effect.fn.Return<string[], SandduneError> {
  if (heads.size === 0) return [];
  const { cwd, runId } = target;
  const refs = uniqueByObject([...heads]);
  const types = yield* typesOf(
    cwd,
    refs.map(([, object]) => object),
  );
  const typeOf = (object: string) => types.get(object) ?? "missing";
  const commits = refs.map(([, object]) => object).filter((object) => typeOf(object) === "commit");
  // Git renumbers stashes with each new one, so they are identified by their objects.
  const refOf = (name: string, object: string) =>
    keptRefFor(runId, name === "refs/stash" ? `${RUN_REFS}stash-${object}` : name);
  const earlier = yield* listRefs(cwd, keptRefs(runId));
  const before = new Map(earlier.map(({ name, sha }) => [name, sha]));
  // A kept ref that gets another object no longer keeps its former one.
  const replaced = new Set(
    refs
      .filter(([name, object]) => before.get(refOf(name, object)) !== object)
      .map(([name, object]) => refOf(name, object)),
  );
  const lasting = [...before].filter(([ref]) => !replaced.has(ref)).map(([, object]) => object);
  const independent = commits.length === 0 ? new Set() : yield* independentOf(target, commits, lasting);
  const kept = refs.filter(([, object]) =>
    typeOf(object) === "commit" ? independent.has(object) : typeOf(object) !== "missing",
  );
  yield* updateRefs(
    cwd,
    kept.map(([name, to]) => ({ ref: refOf(name, to), to })),
  );
  target.onKept?.(kept.map(([name, sha]) => ({ ref: refOf(name, sha), name, sha })));
  // The bundle declares refs whose objects it does not contain.
  const missing = refs.filter(([, object]) => typeOf(object) === "missing").length;
  const reported = kept.slice(0, MAX_REPORTED);
  return [
    ...reported.map(
      ([name, object]) =>
        `The agent also ${describe(name, typeOf(object), ownRefs)}. That is kept as ${refOf(name, object)}.${asBranch(name, refOf(name, object))}`,
    ),
    ...(kept.length > reported.length
      ? [
          `The agent left ${kept.length - reported.length} more refs. They are kept too: git for-each-ref ${RUN_REFS}runs/${runId}`,
        ]
      : []),
    ...(missing > 0 ? [`${missing} refs of the sandbox point to objects that it did not send.`] : []),
  ];
});
