import { readdirSync } from "node:fs";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { foldPath } from "../foldPath.ts";
import { git } from "../git.ts";
import { asText, fromText, nulSeparated } from "../output.ts";
import { concernsBareRepository, isArming, looksBare } from "./bareNames.ts";

export interface TreeFile {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
}

export const listTree = (cwd: string, commit: string): Effect.Effect<TreeFile[], SandduneError> =>
  git(["ls-tree", "-r", "-z", commit], { cwd }).pipe(
    Effect.map(({ stdout }) =>
      nulSeparated(stdout).map((line) => {
        const tab = line.indexOf("\t");
        const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
        return { path: line.slice(tab + 1), mode, object };
      }),
    ),
  );

/** Each directory above a path, with the name of the path's next component. */
function* placesOf(path: string): Generator<readonly [directory: string, name: string]> {
  for (let slash = path.indexOf("/"); slash !== -1; ) {
    const next = path.indexOf("/", slash + 1);
    yield [path.slice(0, slash), path.slice(slash + 1, next === -1 ? undefined : next)];
    slash = next;
  }
}

/** Directories that git would treat as bare, by folded path. Not the top: git finds `.git` there first. */
export const bareDirectories = (paths: Iterable<string>): ReadonlyMap<string, string> => {
  const named = [...paths].map((path) => [foldPath(path), path] as const);
  const names = new Map<string, Set<string>>();
  const shown = new Map<string, string>();
  for (const [folded, path] of named) {
    for (const [directory, name] of placesOf(folded)) {
      if (name !== "head") continue;
      names.set(directory, new Set());
      shown.set(directory, path.split("/", directory.split("/").length).join("/"));
    }
  }
  if (names.size > 0) {
    for (const [folded] of named) {
      for (const [directory, name] of placesOf(folded)) names.get(directory)?.add(name);
    }
  }
  return new Map([...shown].filter(([directory]) => looksBare(names.get(directory) ?? new Set())));
};

/** The same for the files of a commit. */
export const bareDirectoriesIn = (
  cwd: string,
  commit: string,
): Effect.Effect<ReadonlyMap<string, string>, SandduneError> =>
  listTree(cwd, commit).pipe(Effect.map((tree) => bareDirectories(tree.map(({ path }) => path))));

const namesIn = (directory: string): string[] =>
  orUndefined(() => readdirSync(Buffer.from(directory, "latin1"), "latin1")) ?? [];

/** All paths that match, in `latin1`: git's output was decoded, so bytes that are not UTF-8 are lost. */
const directoriesAt = (parent: string, [step, ...rest]: readonly string[]): string[] => {
  if (step === undefined) return [parent];
  const names = step.includes("\ufffd")
    ? namesIn(parent).filter((name) => asText(name) === step)
    : [fromText(step)];
  return names.flatMap((name) => directoriesAt(`${parent}/${name}`, rest));
};

/** Untracked files of the checkout, which can complete a bare repository of a commit. */
const filesBeside = (checkoutPath: string, changedPaths: readonly string[]): string[] => {
  const directories = new Set(
    changedPaths.flatMap((path) =>
      [...placesOf(path)].filter(([, name]) => concernsBareRepository(name)).map(([directory]) => directory),
    ),
  );
  return [...directories].flatMap((directory) =>
    directoriesAt(fromText(checkoutPath), directory.split("/"))
      .flatMap(namesIn)
      .map((name) => `${directory}/${asText(name)}`),
  );
};

/**
 * The directories that become bare repositories by the change from one commit to another, or whose arming files it
 * changes. Considers the whole resulting tree and the files in the checkout at `cwd`: a single new file can complete a
 * repository whose other files existed before.
 */
export const findBareRepositories = Effect.fnUntraced(function* (
  cwd: string,
  from: string,
  to: string,
  changedPaths: readonly string[],
): Effect.fn.Return<string[], SandduneError> {
  const concerned = changedPaths.filter(concernsBareRepository);
  if (concerned.length === 0) return [];
  const tree = (yield* listTree(cwd, to)).map(({ path }) => path);
  const inTree = new Set(tree);
  const beside = filesBeside(
    cwd,
    concerned.filter((path) => inTree.has(path)),
  );
  const after = bareDirectories([...tree, ...beside]);
  if (after.size === 0) return [];
  const before = yield* bareDirectoriesIn(cwd, from);
  const armed = new Set(
    concerned.flatMap((path) =>
      [...placesOf(foldPath(path))].filter(([, name]) => isArming(name)).map(([directory]) => directory),
    ),
  );
  return [...after]
    .filter(([folded]) => !before.has(folded) || armed.has(folded))
    .map(([, directory]) => directory);
});
