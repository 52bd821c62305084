import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";
import * as Effect from "effect/Effect";
import { CopyToWorktreeError, ProcessTimeoutError, type SandduneError, StepTimeoutError } from "../errors.ts";
import { interruptible } from "../process/interruptible.ts";
import { isInside } from "../process/isInside.ts";
import { runProcess } from "../process/runProcess.ts";
import type { Repository } from "./repository.ts";

interface CopyStep {
  readonly item: string;
  readonly source: string;
  readonly destination: string;
}

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

/** Checks the items against the host's files, before anything is created. Throws `CopyToWorktreeError`. */
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

/** A branch may hold symbolic links where a directory is expected: copying through them would write elsewhere. */
const prepareDestination = (worktreePath: string, { item, destination }: CopyStep): void => {
  for (let path = destination; path !== worktreePath; path = dirname(path)) {
    if (isSymbolicLink(path)) {
      throw new CopyToWorktreeError(item, `${path} is a symbolic link in the worktree`);
    }
  }
  mkdirSync(dirname(destination), { recursive: true });
};

/**
 * Copies share their blocks with the original where the file system can do that. What is in the way is removed first:
 * a symbolic link of the agent's must not be written through.
 */
const copyArguments = (source: string, destination: string): string[] =>
  process.platform === "darwin"
    ? ["-Rpc", source, destination]
    : ["-a", "--reflink=auto", "--remove-destination", "--no-target-directory", "--", source, destination];

const copy = (step: CopyStep, timeoutMs: number): Effect.Effect<void, SandduneError> =>
  interruptible(
    (signal) =>
      runProcess({ program: "cp", args: copyArguments(step.source, step.destination), timeoutMs, signal }),
    (reason) =>
      reason instanceof ProcessTimeoutError
        ? new StepTimeoutError(`${STEP} ${JSON.stringify(step.item)}`, timeoutMs, "timeouts.copyToWorktreeMs")
        : (reason as SandduneError),
  ).pipe(
    Effect.flatMap(({ exitCode, stderr }) =>
      exitCode === 0 ? Effect.void : Effect.fail(new CopyToWorktreeError(step.item, stderr.trim())),
    ),
  );

/** Copies files that git does not track (dependencies, local settings) from the host's checkout into the worktree. */
export const copyToWorktree = Effect.fnUntraced(function* (
  repository: Repository,
  worktreePath: string,
  items: readonly string[],
  timeoutMs: number,
): Effect.fn.Return<void, SandduneError> {
  const startedAt = performance.now();
  for (const item of items) {
    const place = join(repository.prefix, item);
    const step = { item, source: join(repository.topLevel, place), destination: join(worktreePath, place) };
    yield* Effect.try({
      try: () => prepareDestination(worktreePath, step),
      catch: (error) => error as SandduneError,
    });
    yield* copy(step, Math.max(1, timeoutMs - (performance.now() - startedAt)));
  }
});
