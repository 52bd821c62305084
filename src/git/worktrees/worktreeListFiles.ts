import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { orUndefined } from "../../tools/orUndefined.ts";
import type { ConfigEntry } from "../configFile.ts";
import type { Repository } from "../repository.ts";
import type { RegisteredWorktree } from "./worktreeList.ts";

/** Whether HEADs are files, and the main worktree has one that counts. */
const isOrdinary = (config: readonly ConfigEntry[]): boolean => {
  const lastValue = (key: string) => config.findLast(([name]) => name === key)?.[1];
  return (lastValue("extensions.refstorage") ?? "files") === "files" && lastValue("core.bare") === "false";
};

/** Throws if the file is a link: older gits have made HEAD a link to the branch. */
const readPlain = (path: string): string => {
  if (!lstatSync(path).isFile()) throw new Error(`${path} is not a regular file`);
  return readFileSync(path, "utf8").trimEnd();
};

/** The branch in a HEAD; `undefined` if it is detached. Throws if only git can tell. */
const branchIn = (commonDirectory: string, head: string): string | undefined => {
  const text = readPlain(head);
  if (/^[0-9a-f]{40,64}$/.test(text)) return undefined;
  const [, ref, branch] = /^ref: (refs\/heads\/(.+))$/.exec(text) ?? [];
  // Another storage of refs leaves `.invalid` here.
  if (ref === undefined || branch === undefined || branch === ".invalid")
    throw new Error(`${head} names no branch`);
  const loose = join(commonDirectory, ref);
  // A symbolic branch: git would report the branch at the end of the chain.
  if (existsSync(loose) && readPlain(loose).startsWith("ref:")) throw new Error(`${ref} is symbolic`);
  return branch;
};

const readLinked = (commonDirectory: string, directory: string): RegisteredWorktree => {
  const gitFile = readPlain(join(directory, "gitdir"));
  if (!isAbsolute(gitFile)) throw new Error(`${gitFile} is not absolute`);
  return {
    path: gitFile.replace(/\/\.git$/, ""),
    branch: branchIn(commonDirectory, join(directory, "HEAD")),
  };
};

/** The list of worktrees as git prints it: the main one first, the others by path. `undefined` if only git can tell. */
export const readWorktreeFiles = (
  { commonDirectory }: Pick<Repository, "commonDirectory">,
  config: readonly ConfigEntry[],
): RegisteredWorktree[] | undefined => {
  if (!isOrdinary(config)) return undefined;
  const parent = join(commonDirectory, "worktrees");
  return orUndefined(() => [
    {
      path: commonDirectory.replace(/\/\.git$/, ""),
      branch: branchIn(commonDirectory, join(commonDirectory, "HEAD")),
    },
    ...(existsSync(parent) ? readdirSync(parent) : [])
      .map((name) => readLinked(commonDirectory, join(parent, name)))
      .sort((one, other) => (one.path < other.path ? -1 : 1)),
  ]);
};

/** The branch in the HEAD of a checkout, `""` if it is detached; `undefined` if only git can tell. */
export const readBranchFile = ({
  commonDirectory,
  gitDirectory,
}: Pick<Repository, "commonDirectory" | "gitDirectory">): string | undefined =>
  orUndefined(() => branchIn(commonDirectory, join(gitDirectory, "HEAD")) ?? "");
