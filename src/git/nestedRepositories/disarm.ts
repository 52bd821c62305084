import { randomBytes } from "node:crypto";
import { chmodSync, renameSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import * as Effect from "effect/Effect";
import type { SandduneError } from "../../errors.ts";
import type { OpenDirectory } from "../../process/openDirectory.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { asText, fromText } from "../output.ts";
import { atEntry } from "./checkoutEntry.ts";
import {
  identifyAll,
  identityAt,
  type Kind,
  kindOf,
  type NestedRepositories,
  type NestedSearch,
  trustedIdentities,
} from "./findNestedRepositories.ts";
import { removePrivileges } from "./removePrivileges.ts";
import { walkCheckout } from "./walkCheckout.ts";

/** The sentences for an entry that was renamed, and for one that could not be. */
const SENTENCES: Record<Kind, (shown: string, newPath: string) => readonly [done: string, not: string]> = {
  repository: (shown, newPath) => [
    `The agent made a git repository in ${shown}. Its settings could run programs on your machine, so its .git was renamed to ${newPath}.`,
    `The agent made a git repository in ${shown}, which could run programs on your machine. It could not be disarmed`,
  ],
  "bare repository": (shown, newPath) => [
    `The agent made ${shown} a directory that git takes for a bare repository. Its settings could run programs on your machine, so its HEAD was renamed to ${newPath}.`,
    `The agent made ${shown} a directory that git takes for a bare repository, which could run programs on your machine. It could not be disarmed`,
  ],
  pipe: (shown, newPath) => [
    `The agent made a pipe in the place of a file that git reads in ${shown}, for which git would wait for ever. It was renamed to ${newPath}.`,
    `The agent made a pipe in ${shown}, for which git would wait for ever. It could not be renamed`,
  ],
};

const disarm = (checkoutPath: string, path: string, identity: string) => {
  const place = dirname(path);
  const kind = kindOf(path);
  const oldName = kind === "repository" ? ".git" : basename(path);
  const newName = `${oldName}.sanddune-${randomBytes(6).toString("hex")}`;
  const shown = JSON.stringify(relative(checkoutPath, asText(place)));
  const [done, not] = SENTENCES[kind](shown, asText(join(place, newName)));
  const inside = relative(fromText(checkoutPath), path);
  /** A running agent may have replaced the entry: then it is left alone. */
  const rename = (directory: OpenDirectory, name: string) => {
    const now = identityAt(directory, name, inside);
    if (now === identity || (kind === "bare repository" && now !== undefined))
      renameSync(directory.entry(name), directory.entry(newName));
  };
  try {
    atEntry(checkoutPath, inside, (directory, name) => {
      try {
        rename(directory, name);
      } catch {
        // The agent may have removed the write permission of the directory.
        chmodSync(directory.path, 0o700);
        rename(directory, name);
      }
    });
    return { path, isDone: true, sentence: done };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const sentence = `${not} (${code}): delete ${asText(path)} before you use git there.`;
    return { path, isDone: false, sentence };
  }
};

/** Whether a path is below one of the directories. */
const liesIn = (path: string, directories: ReadonlySet<string>): boolean => {
  const parent = dirname(path);
  return parent !== path && (directories.has(parent) || liesIn(parent, directories));
};

/**
 * Renames the nested repositories and pipes that the agent has left in a checkout. Git would wait for ever for a pipe.
 * The configuration of a repository names programs that a plain `git status` would run: in its directory or, if it was
 * committed as a submodule, anywhere in the checkout. Also removes set-uid bits. Resolves with sentences about all of
 * it.
 */
export const disarmNestedRepositories = Effect.fnUntraced(function* (
  search: NestedSearch,
  before: NestedRepositories,
): Effect.fn.Return<string[], SandduneError> {
  const { checkoutPath, changedSince } = search;
  const { paths: listed, isComplete } = yield* walkCheckout({ ...search, isAfterAgent: true });
  const found = identifyAll(search, listed);
  const known = new Set(before.values());
  // A `HEAD` inside a user's repository is not a bare repository.
  const own = new Set([...found].flatMap(([path, identity]) => (known.has(identity) ? [path] : [])));
  const unknown = new Map(
    [...found].filter(([path, identity]) => !known.has(identity) && !liesIn(path, own)),
  );
  const trusted = yield* trustedIdentities(search, unknown);
  const hostile = [...unknown].filter(([, identity]) => !trusted.has(identity));
  // Before the renames, which change paths.
  const privileges = changedSince === undefined ? [] : removePrivileges(checkoutPath, listed, changedSince);
  // Deepest first, for the same reason: a renamed `.git` is a bare repository unless its `HEAD` is renamed too.
  const disarmed = hostile.reverse().map(([path, identity]) => disarm(checkoutPath, path, identity));
  const outer = new Set(disarmed.filter(({ isDone }) => isDone).map(({ path }) => path));
  const reported = disarmed.filter(({ path, isDone }) => !isDone || !liesIn(path, outer));
  const gap = isComplete
    ? []
    : [
        `Not all of ${checkoutPath} could be looked at: there are too many repositories, set-uid programs or devices in it. Do not use git there, and do not let other accounts in: chmod 700 ${shellQuote(checkoutPath)}`,
      ];
  return [...gap, ...reported.map(({ sentence }) => sentence), ...privileges];
});
