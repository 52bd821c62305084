import { createHash } from "node:crypto";
import * as Effect from "effect/Effect";
import { ImportRefusedError, type SandduneError } from "../../errors.ts";
import { branchNameProblem } from "../../options/branchName.ts";
import { git } from "../git.ts";
import { branchRef, isAncestor, isGitError, listRefs, updateRefs } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { newExportRefs, RUN_REFS } from "../runRefs.ts";
import type { SandboxExport } from "../transfer/export/fetchBundles.ts";
import { exclusions } from "../transfer/export/packScript.ts";
import { type AgentRefs, readAgentRefs } from "./agentRefs.ts";
import { makeScratchRepository, SCRATCH_ENV } from "./scratchRepository.ts";

/** A git directory on the host that an agent could write to and whose sandbox has ended. */
export interface AgentGitDirectory {
  readonly repository: Repository;
  readonly path: string;
  /** The source branch; `undefined` for a detached HEAD. */
  readonly branch: string | undefined;
  /** A commit of the host that the agent's commits build on. */
  readonly base: string;
}

/** The contents of such a directory, ready for an import. */
export interface ExportedGitDirectory {
  readonly exported: SandboxExport;
  /** The tip of the branch in the sandbox; `undefined` if unknown. */
  readonly tip: string | undefined;
  /** All existing objects that refs of the directory point to. */
  readonly objects: readonly string[];
  /** Short descriptions of what the export lacks, or may lack. */
  readonly problems: readonly string[];
  /** Works for commits of both the host and the agent. */
  readonly isAncestor: (ancestor: string, descendant: string) => Effect.Effect<boolean, SandduneError>;
}

/** Maps ref names to names that git accepts, that have no special meaning and that do not conflict. */
const safeNames = (names: readonly string[]): Map<string, string> => {
  const taken = new Set(names.flatMap((name) => parentsOf(name)));
  const isSafe = (name: string) =>
    /^refs\/(?:heads|tags|sanddune\/export-[0-9a-f]{16})\//.test(name) &&
    branchNameProblem(name.slice("refs/".length)) === undefined &&
    !taken.has(name);
  const substitute = (name: string) => {
    const readable = name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 60);
    return `${RUN_REFS}recovered/${readable}-${createHash("sha256").update(name).digest("hex").slice(0, 10)}`;
  };
  return new Map(names.map((name) => [name, isSafe(name) ? name : substitute(name)]));
};

const parentsOf = (name: string): string[] => {
  const steps = name.split("/");
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join("/"));
};

/** The refs whose commits exist. */
const resolvable = Effect.fnUntraced(function* (
  cwd: string,
  objects: ReadonlyMap<string, string>,
): Effect.fn.Return<Map<string, string>, SandduneError> {
  const entries = [...objects];
  const { stdout } = yield* git(["cat-file", "--batch-check"], {
    cwd,
    env: SCRATCH_ENV,
    stdin: entries.map(([, object]) => `${object}^{commit}\n`).join(""),
  });
  const answers = stdout.split("\n");
  return new Map(entries.filter((_, index) => / commit \d+$/.test(answers[index] ?? "")));
});

/** Packs commits that the host does not have. Resolves with whether there are any. */
const pack = Effect.fnUntraced(function* (
  cwd: string,
  refs: readonly string[],
  known: string,
  bundlePath: string,
): Effect.fn.Return<boolean, SandduneError> {
  if (refs.length === 0) return false;
  return yield* git(["bundle", "create", "--quiet", bundlePath, "--ignore-missing", "--stdin"], {
    cwd,
    env: SCRATCH_ENV,
    stdin: `${refs.join("\n")}\n${known}`,
  }).pipe(
    Effect.as(true),
    Effect.catchIf(
      (error) => isGitError(error) && error.stderr.includes("empty bundle"),
      () => Effect.succeed(false),
    ),
  );
});

/** The last commits of HEAD and of the branch in their reflogs, for a branch whose ref is lost. */
const fromLogs = (refs: AgentRefs, source: string): [string, string][] =>
  ["HEAD", source].map((name) => [`logs/${name}`, refs.log(name)[0] ?? ""]);

/**
 * Exports the commits of an agent's git directory without running git there. The result is as untrusted as the export of
 * a running sandbox: the import checks it.
 *
 * @param scratchPath a directory that does not exist yet, to be removed after the import
 */
export const exportGitDirectory = Effect.fnUntraced(function* (
  { repository, path, branch, base }: AgentGitDirectory,
  scratchPath: string,
  bundlePath: string,
): Effect.fn.Return<ExportedGitDirectory, SandduneError> {
  const refs = readAgentRefs(path);
  const objectProblems = yield* makeScratchRepository(repository, path, scratchPath);
  const source = branch === undefined ? "HEAD" : branchRef(branch);
  const ownRefs = newExportRefs();
  const named = new Map([
    ...refs.objects,
    ...refs.stashes.map((object) => [`${ownRefs}stash-${object}`, object] as const),
    ...refs.left.map((object) => [`${ownRefs}left-${object}`, object] as const),
  ]);
  const lostSource = !(yield* resolvable(scratchPath, named)).has(source);
  if (lostSource)
    for (const [name, object] of fromLogs(refs, source)) if (object !== "") named.set(name, object);
  const found = yield* resolvable(scratchPath, named);
  const hostRefs = new Set((yield* listRefs(repository.topLevel)).map(({ sha }) => sha));
  // A tag of the host may point to a tree or a blob.
  const unresolved = [...refs.objects]
    .filter(([name, object]) => !found.has(name) && !hostRefs.has(object))
    .map(([name]) => name);
  const names = safeNames([...found.keys()].filter((name) => name !== "HEAD"));
  yield* updateRefs(scratchPath, [
    ...[...names].map(([name, ref]) => ({ ref, to: found.get(name) })),
    ...(found.has("HEAD") ? [{ ref: "HEAD", to: found.get("HEAD") }] : []),
  ]);
  const known = exclusions([base, ...hostRefs]);
  const sourceRef = names.get(source) ?? (found.has(source) ? source : undefined);
  const all = [...names.values(), ...(found.has("HEAD") ? ["HEAD"] : [])];
  const packed = yield* pack(scratchPath, all, known, bundlePath).pipe(
    Effect.map((hasBundle) => ({ hasBundle, problems: [] as string[] })),
    Effect.catchIf(isGitError, () =>
      // Objects are missing. If they belong to other refs, the branch is exported nevertheless.
      pack(scratchPath, sourceRef === undefined ? [] : [sourceRef], known, bundlePath).pipe(
        Effect.map((hasBundle) => ({ hasBundle, problems: ["objects of other refs are missing"] })),
      ),
    ),
    Effect.mapError((error) =>
      isGitError(error)
        ? new ImportRefusedError("objects of the branch are missing or damaged", undefined, error.stderr)
        : error,
    ),
  );
  const tip = found.get(source);
  return {
    exported: {
      tip,
      bundlePath: packed.hasBundle ? bundlePath : undefined,
      checkpointsPath: undefined,
      uncommitted: undefined,
      ownRefs,
      leftBehind: [],
    },
    tip,
    objects: [...new Set(found.values())],
    problems: [
      ...refs.problems,
      ...objectProblems,
      ...unresolved.map((name) => `the commit of ${JSON.stringify(name)} is missing`),
      ...packed.problems,
    ],
    isAncestor: (ancestor, descendant) => isAncestor(scratchPath, ancestor, descendant),
  };
});
