import { mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as Effect from "effect/Effect";
import { interruptible } from "../../boundary/interruptible.ts";
import type { SandduneError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { git } from "../git.ts";
import type { Repository } from "../repository.ts";
import { objectStores } from "../sandboxDirectory/objectStores.ts";

/**
 * An environment without any configuration: no hooks, filters or attributes of the user. An agent's `.gitattributes`
 * can only name filters that are not configured.
 */
const bareEnvironment = (repository: Repository, gitDirectory: string, workTree: string) => ({
  GIT_DIR: gitDirectory,
  GIT_WORK_TREE: workTree,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: objectStores(repository.commonDirectory)
    .map((path) => JSON.stringify(path))
    .join(":"),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
});

/** Writes a commit's files into an empty plain directory, and removes it on failure. */
export const writeFilesOf = (
  repository: Repository,
  commit: string,
  directory: string,
): Effect.Effect<void, SandduneError> =>
  Effect.suspend(() => {
    const draft = join(dirname(directory), `.${basename(directory)}.sanddune-${process.pid}`);
    const gitDirectory = join(draft, "git");
    const workTree = join(draft, "files");
    mkdirSync(workTree, { recursive: true });
    const options = { cwd: workTree, env: bareEnvironment(repository, gitDirectory, workTree) };
    const remove = (path: string) =>
      Effect.ignore(
        interruptible(
          () => removeDirectory(path),
          (reason) => reason,
        ),
      );
    return git(
      ["init", "--quiet", "--template=", `--object-format=${repository.objectFormat}`],
      options,
    ).pipe(
      Effect.andThen(git(["read-tree", commit], options)),
      Effect.andThen(git(["checkout-index", "--all", "--quiet"], options)),
      Effect.andThen(Effect.sync(() => renameSync(workTree, directory))),
      Effect.onError(() => remove(directory)),
      Effect.ensuring(remove(draft)),
    );
  });
