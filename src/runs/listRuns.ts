import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkConfigDirectory, configDirectoryPart } from "../configDirectory.ts";
import { HostFileError } from "../errors.ts";
import { openRepository, type Repository } from "../git/repository.ts";
import { runAtBoundary } from "../process/boundary.ts";
import { type RunRecord, readRun } from "./runRecord.ts";

/** The repository that a directory is in, its config directory checked. */
export const findRepository = async (cwd: string | undefined): Promise<Repository> => {
  const repository = await runAtBoundary(openRepository(resolve(cwd ?? ".")));
  checkConfigDirectory(repository.configDirectory);
  return repository;
};

const directoriesIn = (path: string): string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new HostFileError(code, path, { cause: error });
  }
};

/** One that cannot be read, because it was run by another user for instance, hides no other. */
const readIfPossible = (runDirectory: string, onUnreadable: (runDirectory: string) => void) => {
  try {
    return readRun(runDirectory);
  } catch {
    onUnreadable(runDirectory);
    return undefined;
  }
};

/** Every run of the repository that has left a journal, the oldest first. */
export const listRuns = (
  { configDirectory }: Pick<Repository, "configDirectory">,
  onUnreadable: (runDirectory: string) => void = () => {},
): RunRecord[] => {
  const runs = configDirectoryPart(configDirectory, "runs");
  return directoriesIn(runs)
    .map((name) => readIfPossible(join(runs, name), onUnreadable))
    .filter((run) => run !== undefined)
    .sort((a, b) => a.begunAt.getTime() - b.begunAt.getTime() || (a.runId < b.runId ? -1 : 1));
};
