import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import { hasUnimportedCommits } from "../../git/recovery/unimportedCommits.ts";
import { sandboxDirectories } from "../../git/sandboxDirectory/sandboxGitDirectory.ts";
import { keptBundles } from "../../git/transfer/bundle/keptBundles.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { endGuard } from "../journal/cleanGuard.ts";
import { runFilesDirectory } from "../journal/runDirectory.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import { hasOverlay } from "../recover/deadOverlay.ts";
import { readRun, type StoredRun } from "../storedRun.ts";
import { type CleanScope, type Leftover, unlessNamed } from "./leftover.ts";

/** Archives of a sandbox's files, written when its commits could not be exported. */
const archivesIn = (runDirectory: string): string[] =>
  (existsSync(runDirectory) ? readdirSync(runDirectory) : [])
    .filter((name) => /^rescue(-.*)?\.tar$/.test(name))
    .map((name) => join(runDirectory, name))
    .filter((path) => lstatSync(path).isFile());

const removal = (path: string, noteRemoval: () => void = () => {}) =>
  interruptible(() => removeDirectory(path).then(noteRemoval));

const reasonToKeep = Effect.fnUntraced(function* (
  { repository, unrecovered, keptWork }: CleanScope,
  run: StoredRun,
  path: string,
): Effect.fn.Return<string | undefined> {
  if (unrecovered.has(run.runId)) return undefined;
  if (hasOverlay(repository, run))
    return `the files of the run are not in its worktree yet. To write them there: ${sandduneCommand("rescue", run.runId)}`;
  const { git } = sandboxDirectories(path);
  // An isolated sandbox has its own git directory; only files that were sent or received are left here.
  if (!existsSync(git)) {
    const [bundle] = keptBundles(path);
    return (
      bundle && `it holds commits that were refused. To look at them: git bundle verify ${shellQuote(bundle)}`
    );
  }
  // A run that ended properly keeps its files only if they hold commits that could not be imported.
  const isKept = run.state !== "dead" && run.recovery === undefined;
  if (isKept || keptWork.has(run.runId))
    return `it holds commits that were not imported. To try again: ${sandduneCommand("rescue", run.runId)}`;
  const isUnknown = yield* hasUnimportedCommits(repository, git).pipe(
    Effect.catch(() => Effect.succeed(true)),
  );
  return isUnknown
    ? `it holds commits that are not in the repository. To import them: ${sandduneCommand("rescue", run.runId)}`
    : undefined;
});

const findRunFiles = Effect.fnUntraced(function* (
  scope: CleanScope,
  selected: StoredRun,
): Effect.fn.Return<Leftover[]> {
  const { runId, runDirectory } = selected;
  // It may have been recovered since it was selected.
  const run = readRun(runDirectory) ?? selected;
  const path = runFilesDirectory(runDirectory);
  const archives = archivesIn(runDirectory).map(
    (archive): Leftover => ({
      what: "files",
      name: archive,
      runIds: [runId],
      detail: "files of a sandbox",
      ...unlessNamed(scope.namedRuns.has(runId), "the sandbox's commits could not be imported otherwise"),
      remove: removal(archive),
    }),
  );
  if (!existsSync(path)) return archives;
  const keep = scope.unsettled.has(runId)
    ? { keptBecause: "its sandbox may still be at work" }
    : unlessNamed(scope.namedRuns.has(runId), yield* reasonToKeep(scope, run, path));
  return [
    ...archives,
    {
      what: "files",
      name: path,
      runIds: [runId],
      detail: "the sandbox git directory",
      ...keep,
      remove: removal(path, () => {
        endGuard(runDirectory);
        amendJournal(runDirectory, { type: "removed", what: "files", name: path });
      }),
    },
  ];
});

/** Finds what the runs keep in their directories besides the journal. */
export const findFiles = (scope: CleanScope): Effect.Effect<Leftover[]> =>
  Effect.forEach(scope.selected, (run) => findRunFiles(scope, run)).pipe(Effect.map((found) => found.flat()));
