import { resolve } from "node:path";
import { type ProjectConfig, projectConfigPath, readProjectConfig } from "./config.ts";

/** The repository of a command line, with its project config. */
export interface Project {
  /** The top of the checkout. */
  readonly topLevel: string;
  readonly configDirectory: string;
  /** Git's directory, which all checkouts share. */
  readonly gitDirectory: string;
  readonly configPath: string;
  readonly config: ProjectConfig;
  /** The paths of uncommitted changes. Git runs once. */
  uncommittedPaths(): Promise<readonly string[]>;
}

/** Finds the repository of `cwd`, and reads its `.sanddune/config.json`. */
export const findProject = async (cwd = "."): Promise<Project> => {
  // Loaded late: help and completion do not have to wait for Effect.
  const [{ openRepository }, { listUncommitted }, { runAtBoundary }] = await Promise.all([
    import("../git/repository.ts"),
    import("../git/worktrees/uncommittedPaths.ts"),
    import("../boundary/boundary.ts"),
  ]);
  const { topLevel, configDirectory, commonDirectory } = await runAtBoundary(openRepository(resolve(cwd)));
  let uncommitted: Promise<readonly string[]> | undefined;
  return {
    topLevel,
    configDirectory,
    gitDirectory: commonDirectory,
    configPath: projectConfigPath(configDirectory),
    config: readProjectConfig(configDirectory),
    uncommittedPaths: () => {
      uncommitted ??= runAtBoundary(listUncommitted(topLevel));
      return uncommitted;
    },
  };
};
