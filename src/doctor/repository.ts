import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runAtBoundary } from "../boundary/boundary.ts";
import { ConfigDirectoryError, GitError, NotARepositoryError, PrerequisiteError } from "../errors.ts";
import { readHead } from "../git/hostState.ts";
import type { Repository } from "../git/repository.ts";
import { checkConfigDirectory, configDirectoryPart } from "../options/configDirectory.ts";
import { sandduneCommand } from "../process/ownCommand/sandduneCommand.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { type Finding, failed, failedWith, ok } from "./finding.ts";
import type { Situation } from "./situation.ts";

const TITLE = "repository";

const GIT_INIT = 'git init && git commit --allow-empty -m "Initial commit"';

/** Why git finds no repository that a run could work in. */
const withoutRepository = (problem: Error, cwd: string): Finding => {
  if (problem instanceof NotARepositoryError) {
    return failed(
      TITLE,
      `${cwd} is not in a git repository`,
      `${GIT_INIT} – or name one: ${sandduneCommand("doctor", "--cwd", "DIR")}`,
    );
  }
  const [trust] =
    problem instanceof GitError ? (/git config .*safe\.directory .*/.exec(problem.stderr) ?? []) : [];
  if (trust !== undefined) {
    return failed(TITLE, "git does not trust it, because it belongs to another user", trust);
  }
  return failedWith(TITLE, problem, `See what git says: git -C ${shellQuote(cwd)} status`);
};

/** The existing paths that a run writes to. */
const writtenPaths = ({ gitDirectory, commonDirectory, configDirectory }: Repository): string[] => {
  const parts = (["worktrees", "runs", "logs"] as const).map((part) =>
    configDirectoryPart(configDirectory, part),
  );
  return [
    ...new Set([gitDirectory, commonDirectory]),
    join(commonDirectory, "objects"),
    existsSync(configDirectory) ? configDirectory : dirname(configDirectory),
    ...parts.filter((path) => existsSync(path)),
  ];
};

const refusal = async (path: string): Promise<string | undefined> => {
  try {
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

const checkWritable = async (repository: Repository): Promise<Finding | undefined> => {
  const paths = writtenPaths(repository);
  const codes = await Promise.all(paths.map(refusal));
  const refused = paths.filter((_, index) => codes[index] !== undefined);
  if (refused.length === 0) return undefined;
  const isReadOnly = codes.includes("EROFS");
  return failed(
    TITLE,
    `a run cannot write to ${refused.join(", ")}`,
    isReadOnly
      ? "Make the file system writable, or use a checkout on another one."
      : `Make it yours: sudo chown -R "$USER" ${refused.map(shellQuote).join(" ")} – or use a checkout of your own.`,
  );
};

const checkPlaces = ({ configDirectory }: Repository): Finding | undefined => {
  try {
    checkConfigDirectory(configDirectory);
    return undefined;
  } catch (error) {
    // An unreadable directory is reported as not writable.
    if (!(error instanceof ConfigDirectoryError)) return undefined;
    const fix = `Look at what has put it there, then remove it: git log -- ${shellQuote(error.path)}`;
    return failed(TITLE, `${error.path} is not a directory`, fix);
  }
};

/** Checks that there is a repository, and that a run can write to it. */
export const checkRepository = async ({
  repository,
  problem,
  cwd,
}: Situation): Promise<Finding | undefined> => {
  // Another check reports that git is missing.
  if (problem instanceof PrerequisiteError) return undefined;
  if (repository === undefined) return problem && withoutRepository(problem, cwd);
  const unfit = checkPlaces(repository) ?? (await checkWritable(repository));
  if (unfit !== undefined) return unfit;
  // Rejects if there is no commit to start from.
  await runAtBoundary(readHead(repository.topLevel));
  return ok(TITLE, repository.topLevel);
};
