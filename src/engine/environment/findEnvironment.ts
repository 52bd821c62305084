import { realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { type EnvironmentPart, loadEnvironment } from "../../environment/folder/loadEnvironment.ts";
import { chooseDefinition, readDefinition } from "../../environment/folder/readEnvironment.ts";
import { EnvironmentError, type SandduneError } from "../../errors.ts";
import { readHead } from "../../git/hostState.ts";
import type { Repository } from "../../git/repository.ts";
import {
  type CommittedFolder,
  namesIn,
  readFileIn,
  uncommittedIn,
} from "../../git/snapshots/committedFolder.ts";
import { isInside } from "../../tools/isInside.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { somePaths } from "../../tools/someOf.ts";

/** The source of an environment's files. */
export type EnvironmentSource =
  /** A folder outside the repository, where no agent can write. It is used as it is. */
  | { readonly type: "folder"; readonly part: EnvironmentPart }
  /** A folder in the repository. Agents can change it, so it is read from a commit. */
  | {
      readonly type: "committed";
      /** The folder in the user's checkout. */
      readonly directory: string;
      readonly folder: CommittedFolder;
      /** Ignored files, such as installed packages, that the definition names in `files`. No commit has them. */
      readonly named: readonly string[];
      /** Other ignored files. An agent may have written them, so they are not used. */
      readonly unused: readonly string[];
      /** Files that differ between the checkout and the commit. */
      readonly changed: readonly string[];
    };

type Checkout = Pick<Repository, "topLevel">;

/** A path relative to the top level, also through links; `undefined` if it is elsewhere. */
const wayFrom = (topLevel: string, path: string): string | undefined => {
  for (let directory = path; directory !== dirname(directory); directory = dirname(directory)) {
    if (realpathSync(directory) === topLevel) return relative(directory, path);
  }
  return undefined;
};

/** A folder's path in a checkout, or `undefined`. Refuses links: an agent may have made them. */
const placeIn = ({ topLevel }: Checkout, path: string): string | undefined => {
  const real = realpathSync(path);
  const way = wayFrom(topLevel, resolve(path));
  if (way !== undefined && join(topLevel, way) !== real) {
    throw new EnvironmentError(
      resolve(path),
      "its path has a symbolic link, which an agent may have made",
      `Pass the folder itself: ${shellQuote(real)}`,
    );
  }
  return isInside(topLevel, real) ? relative(topLevel, real).replaceAll(sep, "/") : undefined;
};

/** Only ignored files that the committed definition names are used. Anything may have written the others. */
const chooseIgnored = (ignored: readonly string[], selected: readonly string[] = []) => {
  return {
    named: selected.filter((item) => ignored.some((path) => isInside(path, item))),
    unused: ignored.filter((path) => !selected.some((item) => isInside(path, item))),
  };
};

const loadCommitted = Effect.fnUntraced(function* (
  { topLevel }: Checkout,
  path: string,
): Effect.fn.Return<EnvironmentSource, SandduneError> {
  const directory = join(topLevel, path);
  const { sha: commit } = yield* readHead(topLevel);
  const folder: CommittedFolder = { topLevel, commit, path };
  const names = yield* namesIn(folder);
  if (names === undefined) {
    return yield* Effect.fail(
      new EnvironmentError(
        directory,
        `it is in the repository, but not in the checked-out commit ${commit.slice(0, 7)}`,
        `Agents can change files in a repository, so environments in it are read from commits. Commit it: git add ${shellQuote(path)} && git commit. Or keep it outside the repository.`,
      ),
    );
  }
  const definitionFile = yield* attempt(() => chooseDefinition(directory, names));
  const text = yield* readFileIn(folder, definitionFile);
  const { selected } = yield* attempt(() => readDefinition(directory, definitionFile, () => text));
  const { changed, ignored } = yield* uncommittedIn(folder);
  return { type: "committed", directory, folder, changed, ...chooseIgnored(ignored, selected) };
});

/** Finds an environment and reads its definition, so that its errors are reported before anything is created. */
export const findEnvironment = Effect.fnUntraced(function* (
  path: string,
  repository: Repository,
): Effect.fn.Return<EnvironmentSource, SandduneError> {
  // The environment can be in the main checkout while the run is in another one.
  for (const topLevel of new Set([repository.topLevel, dirname(repository.configDirectory)])) {
    const place = yield* attempt(() => placeIn({ topLevel }, path)).pipe(
      // For example, the folder does not exist; reading it reports that.
      Effect.catchIf(
        (error) => !(error instanceof EnvironmentError),
        () => Effect.succeed(undefined),
      ),
    );
    if (place !== undefined) return yield* loadCommitted({ topLevel }, place);
  }
  const part = yield* interruptible(() => loadEnvironment(resolve(path)));
  return { type: "folder", part };
});

/** Written by test runners and editors for their own use. */
const BY_TOOLS = /(?:^|\/)(?:\.[^/]*|__pycache__)\/?$/;

/** Warnings about the source of the tests. */
export const sourceWarnings = (source: EnvironmentSource, isHead: boolean): string[] => {
  if (source.type === "folder") return [];
  const { folder, changed, named } = source;
  const unused = source.unused.filter((path) => !BY_TOOLS.test(path));
  const environment = `The environment ${folder.path || "at the repository's top level"}`;
  return [
    changed.length > 0 &&
      `${environment} has uncommitted changes, which are not used: ${somePaths(changed)}. The tests come from the commit ${folder.commit.slice(0, 7)}. To use the changes: git add ${shellQuote(folder.path || ".")} && git commit`,
    unused.length > 0 &&
      `${environment} has ignored files, which are not used: ${somePaths(unused)}. If the tests need them, list them in \`files\` of the definition.`,
    isHead &&
      named.length > 0 &&
      `${environment} has ignored files, which agents can change with the branch strategy \`head\`: ${somePaths(named)}. Keep the environment outside the repository, or use another strategy.`,
  ].filter((warning) => warning !== false);
};
