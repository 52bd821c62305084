import { chmodSync, lstatSync, mkdirSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { HelperFileError } from "../../errors/commandErrors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { reasonOf } from "../../tools/files/reasonOf.ts";
import { findInside } from "../project/findInside.ts";
import type { ProjectFiles } from "../project/projectFiles.ts";
import type { PlainStep, ScenarioSpec } from "../spec.ts";

const MAX_HELPER_BYTES = 64 * 1024 * 1024;

/** A helper file with its original content. */
interface Helper {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

const commandsOf = ({ steps = [], assertions = [] }: ScenarioSpec): readonly string[] => [
  ...steps.flatMap((step) => ("cmd" in step ? step.cmd : [])),
  ...assertions.flatMap((assertion) => {
    if ("cmd_zero" in assertion) return assertion.cmd_zero;
    return "cmd_nonzero" in assertion ? assertion.cmd_nonzero : [];
  }),
];

/** The arguments of commands that may be paths, also as the value of an option. */
const wordsOf = (spec: ScenarioSpec): ReadonlySet<string> =>
  new Set(
    commandsOf(spec)
      .flatMap((word) => [word, word.slice(word.indexOf("=") + 1)])
      .map(posix.normalize),
  );

/** The files that the page has written for its commands. */
const writtenHelpers = (
  spec: ScenarioSpec,
  done: readonly PlainStep[],
  files: ProjectFiles,
): readonly string[] => {
  const words = wordsOf(spec);
  return done
    .flatMap((step) => ("write_file" in step ? [step.write_file.path] : []))
    .filter((path) => words.has(posix.normalize(path)) && files.kindOf(path) === "file");
};

const remember = async (files: ProjectFiles, path: string): Promise<Helper> => {
  try {
    const place = findInside(files.root, path);
    const isItself = place.path === join(files.root, path);
    if (place.status !== undefined && !isItself) throw new Error("a symbolic link leads there");
    const content = await files.read(path, MAX_HELPER_BYTES);
    return { path: posix.normalize(path), content, mode: (place.status as Stats).mode & 0o7777 };
  } catch (error) {
    throw new HelperFileError(
      path,
      `it cannot be kept as it is: ${reasonOf(error)}`,
      "Correct \"helpers\", or the steps before the agent's, in the scenario's page.",
      { cause: error },
    );
  }
};

const isAsItWas = async (files: ProjectFiles, { path, content, mode }: Helper): Promise<boolean> => {
  const place = findInside(files.root, path);
  if (place.path !== join(files.root, path) || !place.status?.isFile()) return false;
  if ((place.status.mode & 0o7777) !== mode || place.status.size !== content.length) return false;
  return (await files.read(path, MAX_HELPER_BYTES)).equals(content);
};

/** Removes a link itself, never its target. */
const clear = async (path: string, status: Stats | undefined): Promise<void> =>
  status?.isDirectory() ? removeDirectory(path) : rmSync(path, { force: true });

/** Restores the directories above a helper file: no links, and writable by their owner. */
const openWay = async (root: string, path: string): Promise<void> => {
  let directory = root;
  for (const name of ["", ...path.split(sep).slice(0, -1)]) {
    directory = join(directory, name);
    const status = lstatSync(directory, { throwIfNoEntry: false });
    if (status?.isDirectory()) {
      if ((status.mode & 0o700) !== 0o700) chmodSync(directory, (status.mode & 0o7777) | 0o700);
      continue;
    }
    await clear(directory, status);
    mkdirSync(directory);
  }
};

const putBack = async (files: ProjectFiles, { path, content, mode }: Helper): Promise<void> => {
  await openWay(files.root, path);
  const place = join(files.root, path);
  await clear(place, lstatSync(place, { throwIfNoEntry: false }));
  writeFileSync(place, content, { flag: "wx" });
  chmodSync(place, mode);
};

/**
 * Remembers the helper files: those that the page names as `helpers`, and those that the steps `done` so far have
 * written for a command. Call it before an agent starts, and again after the page has written a file. The returned
 * function restores them byte for byte, removes whatever is in their place, and resolves with the paths that were
 * changed.
 */
export const rememberHelpers = async (
  spec: ScenarioSpec,
  done: readonly PlainStep[],
  files: ProjectFiles,
): Promise<() => Promise<readonly string[]>> => {
  const paths = new Set([...(spec.helpers ?? []), ...writtenHelpers(spec, done, files)]);
  const helpers = await Promise.all([...paths].map((path) => remember(files, path)));
  return async () => {
    const changed: string[] = [];
    for (const helper of helpers) {
      try {
        if (await isAsItWas(files, helper).catch(() => false)) continue;
        await putBack(files, helper);
        changed.push(helper.path);
      } catch (error) {
        throw new HelperFileError(
          helper.path,
          `after the agent, it could not be put back: ${reasonOf(error)}`,
          "To look at what the agent has left there, run the scenario again with --keep-tmp.",
          { cause: error },
        );
      }
    }
    return changed;
  };
};
