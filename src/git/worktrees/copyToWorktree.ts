import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, normalize, relative, sep } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { CopyToWorktreeError, ProcessTimeoutError, SandduneError, StepTimeoutError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { entryExists } from "../../tools/files/entries.ts";
import { isInside } from "../../tools/isInside.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { somePaths } from "../../tools/someOf.ts";
import { git } from "../git.ts";
import { nulSeparated } from "../output.ts";
import type { Repository } from "../repository.ts";
import { type CopyLimits, copyWhole } from "./copyFiles.ts";
import { type CopyStep, copyMissing } from "./copyMissing.ts";
import { changedSinceCopy, stampCopy } from "./copyStamps.ts";
import type { GitWorktree } from "./worktrees.ts";

const STEP = "copyToWorktree";

const isSymbolicLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

const itemProblem = (item: string): string | undefined => {
  if (item === "") return "it is empty";
  if (item.includes("\0")) return "it contains a NUL character";
  if (isAbsolute(item)) return "it is absolute; name it relative to `cwd`";
  if (item.startsWith("~")) return "`~` is not expanded; name it relative to `cwd`";
  const components = normalize(item).split(sep);
  if (components.includes("..")) return "it leaves `cwd`";
  if (components.includes(".git")) return "git's own data cannot be copied";
  if (normalize(item) === "." || normalize(item) === `.${sep}`) return "name what to copy, not all of `cwd`";
  if (components[0] === ".sanddune" && ["worktrees", "runs", undefined, ""].includes(components[1])) {
    return "it holds the worktrees themselves";
  }
  return undefined;
};

/** Checks the items before anything is created. Throws `CopyToWorktreeError`. */
export const checkCopyItems = (repository: Repository, items: readonly string[]): void => {
  const cwd = join(repository.topLevel, repository.prefix);
  for (const item of items) {
    const problem = itemProblem(item);
    if (problem !== undefined) throw new CopyToWorktreeError(item, problem);
    const source = join(cwd, item);
    let target: string;
    try {
      target = realpathSync(source);
    } catch (cause) {
      throw new CopyToWorktreeError(item, `there is no ${source}`, { cause });
    }
    if (!isInside(repository.topLevel, target)) {
      throw new CopyToWorktreeError(item, `it is a symbolic link to ${target}, outside the repository`);
    }
  }
};

/** A branch may have a symbolic link in place of a directory: copying through it would write outside the worktree. */
const prepareDestination = (worktreePath: string, { item, destination }: CopyStep): void => {
  for (let path = dirname(destination); path !== worktreePath; path = dirname(path)) {
    if (isSymbolicLink(path)) {
      throw new CopyToWorktreeError(item, `${path} is a symbolic link in the worktree`);
    }
  }
  mkdirSync(dirname(destination), { recursive: true });
};

/** The worktree that items are copied into. */
type Place = Pick<GitWorktree, "path" | "gitDirectory">;

/** Tells which files and directories below the destinations are in the index, even if they were deleted. */
const findTracked = Effect.fnUntraced(function* (
  { path: cwd }: Place,
  paths: readonly string[],
): Effect.fn.Return<(path: string) => boolean, SandduneError> {
  if (paths.length === 0) return () => false;
  const { stdout } = yield* git(["--literal-pathspecs", "ls-files", "-z", "--", ...paths], { cwd });
  const tracked = new Set<string>();
  for (const file of nulSeparated(stdout)) {
    for (let path = join(cwd, file); path !== cwd; path = dirname(path)) tracked.add(path);
  }
  return (path) => tracked.has(path);
});

/**
 * Copies one item, and resolves with a sentence about what was not copied. Existing files are not replaced: they may be
 * an agent's unfinished work, or belong to the branch. The exception is the unchanged copy of an earlier run.
 */
const copyItem = async (
  place: Place,
  step: CopyStep,
  isTracked: (path: string) => boolean,
  limits: CopyLimits,
): Promise<string | undefined> => {
  const { item, source, destination } = step;
  const named = (paths: readonly string[]) => somePaths(paths.map((path) => relative(place.path, path)));
  const temporaryDirectory = join(place.gitDirectory, "sanddune-copying");
  const copyAnew = async () => {
    await removeDirectory(temporaryDirectory);
    mkdirSync(temporaryDirectory, { mode: 0o700 });
    await copyWhole(item, source, destination, temporaryDirectory, limits);
    await removeDirectory(temporaryDirectory);
    await stampCopy(place.gitDirectory, destination, limits.signal);
  };
  const changesIn = (path: string) => changedSinceCopy(place.gitDirectory, destination, path, limits);

  const isOfBranch = isTracked(destination);
  if (!isOfBranch && !entryExists(destination)) {
    await copyAnew();
    return undefined;
  }
  const changes = isOfBranch ? undefined : await changesIn(destination);
  if (changes === undefined) {
    const differing = await copyMissing(step, isTracked, limits);
    return differing.length === 0
      ? undefined
      : `copyToWorktree ${JSON.stringify(item)}: these files differ from yours in the worktree, or were deleted there, and were not copied: ${named(differing)}.`;
  }
  if ((await changesIn(source))?.length === 0) return undefined;
  if (changes.length > 0) {
    return `copyToWorktree ${JSON.stringify(item)}: the copy in the worktree was kept, because it has changed since an earlier run made it: ${named(changes)}. For a new copy, remove it first: rm -r ${shellQuote(destination)}`;
  }
  await removeDirectory(destination);
  await copyAnew();
  return undefined;
};

const toCopyError =
  ({ item }: CopyStep, timeoutMs: number) =>
  (reason: unknown): SandduneError => {
    if (reason instanceof ProcessTimeoutError) {
      return new StepTimeoutError(`${STEP} ${JSON.stringify(item)}`, timeoutMs, "timeouts.copyToWorktreeMs");
    }
    if (reason instanceof SandduneError) return reason;
    return new CopyToWorktreeError(item, messageOf(reason), {
      cause: reason,
    });
  };

/** Copies untracked files, e.g. dependencies. Resolves with sentences about what was not copied. */
export const copyToWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  place: Place,
  items: readonly string[],
  timeoutMs: number,
): Effect.fn.Return<readonly string[], SandduneError> {
  const deadline = performance.now() + timeoutMs;
  const kept: string[] = [];
  const steps = items.map((item): CopyStep => {
    const path = join(repository.prefix, item).replace(/\/$/, "");
    return { item, source: join(repository.topLevel, path), destination: join(place.path, path) };
  });
  const isTracked = yield* findTracked(
    place,
    steps.map(({ destination }) => relative(place.path, destination)),
  );
  for (const step of steps) {
    const sentence = yield* interruptible(
      async (signal) => {
        prepareDestination(place.path, step);
        return copyItem(place, step, isTracked, { signal, deadline });
      },
      toCopyError(step, timeoutMs),
    );
    if (sentence !== undefined) kept.push(sentence);
  }
  return kept;
});
