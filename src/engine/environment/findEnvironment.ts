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

/** Where the files of an environment come from. */
export type EnvironmentSource =
  /** A folder outside of the repository, which no agent can write to: as it is. */
  | { readonly type: "folder"; readonly part: EnvironmentPart }
  /** A folder of the repository: agents can change those, so it is taken from a commit. */
  | {
      readonly type: "committed";
      /** The folder in the user's checkout. */
      readonly directory: string;
      readonly folder: CommittedFolder;
      /** What git ignores in there, such as installed packages, and `files` of the definition names: no commit has it. */
      readonly named: readonly string[];
      /** What else git ignores in there. An agent may have put it there, so it is not used. */
      readonly unused: readonly string[];
      /** What in the checkout is not as in the commit. */
      readonly changed: readonly string[];
    };

type Checkout = Pick<Repository, "topLevel">;

/** How a path leads on from the top level, by whichever links it got there; `undefined` if it does not lead there. */
const wayFrom = (topLevel: string, path: string): string | undefined => {
  for (let directory = path; directory !== dirname(directory); directory = dirname(directory)) {
    if (realpathSync(directory) === topLevel) return relative(directory, path);
  }
  return undefined;
};

/** Where a folder is in a checkout; `undefined` if it is elsewhere. A link in the checkout could be an agent's. */
const placeIn = ({ topLevel }: Checkout, path: string): string | undefined => {
  const real = realpathSync(path);
  const way = wayFrom(topLevel, resolve(path));
  if (way !== undefined && join(topLevel, way) !== real) {
    throw new EnvironmentError(
      resolve(path),
      "there is a symbolic link on the way to it, which an agent may have made",
      `Pass the folder itself: ${shellQuote(real)}`,
    );
  }
  return isInside(topLevel, real) ? relative(topLevel, real).replaceAll(sep, "/") : undefined;
};

/** Only what the definition names itself is used: the definition is committed, what git ignores can be anyone's. */
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
        `it is in the repository, but not in the commit that is checked out there, ${commit.slice(0, 7)}`,
        `Agents can change files in a repository, so its environments are read from commits. Commit it: git add ${shellQuote(path)} && git commit. Or keep it outside of the repository.`,
      ),
    );
  }
  const definitionFile = yield* attempt(() => chooseDefinition(directory, names));
  const text = yield* readFileIn(folder, definitionFile);
  const { selected } = yield* attempt(() => readDefinition(directory, definitionFile, () => text));
  const { changed, ignored } = yield* uncommittedIn(folder);
  return { type: "committed", directory, folder, changed, ...chooseIgnored(ignored, selected) };
});

/** Finds an environment, and reads its definition: what is wrong with it is reported before anything is created. */
export const findEnvironment = Effect.fnUntraced(function* (
  path: string,
  repository: Repository,
): Effect.fn.Return<EnvironmentSource, SandduneError> {
  // It can be in the main checkout while the run is in another one.
  for (const topLevel of new Set([repository.topLevel, dirname(repository.configDirectory)])) {
    const place = yield* attempt(() => placeIn({ topLevel }, path)).pipe(
      // There is no such folder, for one, which is said where folders are read.
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

/** Made by runners and by editors, for their own use. */
const BY_TOOLS = /(?:^|\/)(?:\.[^/]*|__pycache__)\/?$/;

/** What the caller should know about where the tests come from, in sentences. */
export const sourceWarnings = (source: EnvironmentSource, isHead: boolean): string[] => {
  if (source.type === "folder") return [];
  const { folder, changed, named } = source;
  const unused = source.unused.filter((path) => !BY_TOOLS.test(path));
  const environment = `The environment ${folder.path || "at the repository's top level"}`;
  return [
    changed.length > 0 &&
      `${environment} has changes that are not committed, and they are not used: ${somePaths(changed)}. The tests are those of the commit ${folder.commit.slice(0, 7)}. To use them: git add ${shellQuote(folder.path || ".")} && git commit`,
    unused.length > 0 &&
      `${environment} has files that git ignores, and they are not used: ${somePaths(unused)}. If the tests need them, name them in \`files\` of the definition.`,
    isHead &&
      named.length > 0 &&
      `${environment} has files that git ignores, and that agents can write to with the strategy \`head\`: ${somePaths(named)}. Keep the environment outside of the repository, or use another strategy.`,
  ].filter((warning) => warning !== false);
};
