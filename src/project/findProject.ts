import { resolve } from "node:path";
import { type ProjectConfig, projectConfigPath, readProjectConfig } from "./config.ts";

/** The repository that a command line is about, with what it takes for granted there. */
export interface Project {
  /** The top of the checkout. */
  readonly topLevel: string;
  readonly configDirectory: string;
  /** Git's directory, which all checkouts share. */
  readonly gitDirectory: string;
  readonly configPath: string;
  readonly config: ProjectConfig;
  /** What the checkout holds that is not committed. Git is asked once. */
  uncommittedPaths(): Promise<readonly string[]>;
}

/** Finds the repository of `cwd`, and reads its `.sanddune/config.json`. */
export const findProject = async (cwd = "."): Promise<Project> => {
  // Only now: a command line that asks for help, or for a completion, does not wait for Effect to be loaded.
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
