import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { hasCode } from "../../tools/files/hasCode.ts";
import { branchRef } from "../refs.ts";
import type { Repository } from "../repository.ts";
import { adminDirectoriesParent } from "./adminDirectory.ts";
import { gitRemovals, removalDraft } from "./removalDraft.ts";

export interface NewWorktree {
  readonly path: string;
  readonly branch: string;
  /** Locks it. Git shows the reason. */
  readonly lockReason?: string;
}

/** Named as git does: after the worktree's directory, with a number if that name is taken. */
const freeName = (parent: string, path: string): string => {
  let name = basename(path);
  for (let number = 1; existsSync(join(parent, name)); number++) name = `${basename(path)}${number}`;
  return name;
};

const ATTEMPTS = 10;

/** Meanwhile, a git of the user can add a worktree of the same name, or remove the parent with the last worktree. */
const putInPlace = (draft: string, parent: string, path: string): string => {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(parent, { recursive: true });
      const gitDirectory = join(parent, freeName(parent, path));
      renameSync(draft, gitDirectory);
      return gitDirectory;
    } catch (error) {
      const isRace = ["ENOENT", "ENOTEMPTY", "EEXIST"].some((code) => hasCode(error, code));
      if (!isRace || attempt === ATTEMPTS) throw error;
    }
  }
};

/** Writes the administrative directory. It appears at once: git fails in a repository that has half of one. */
const writeAdministration = (repository: Repository, { path, branch, lockReason }: NewWorktree): string => {
  mkdirSync(gitRemovals(repository), { recursive: true });
  const draft = removalDraft(gitRemovals(repository));
  mkdirSync(draft);
  const files = {
    commondir: "../..\n",
    gitdir: `${join(path, ".git")}\n`,
    HEAD: `ref: ${branchRef(branch)}\n`,
    ...(lockReason !== undefined && { locked: `${lockReason}\n` }),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(draft, name), content);
  return putInPlace(draft, adminDirectoriesParent(repository), path);
};

/**
 * Registers a worktree without an index, and with the files that its directory has. Does what `git worktree add --no-checkout` does
 * in three processes. Returns its git directory.
 */
export const registerWorktree = (repository: Repository, worktree: NewWorktree): string => {
  const gitDirectory = writeAdministration(repository, worktree);
  const gitFile = join(worktree.path, ".git");
  mkdirSync(worktree.path, { recursive: true });
  // Never through a link.
  rmSync(gitFile, { force: true });
  writeFileSync(gitFile, `gitdir: ${gitDirectory}\n`, { flag: "wx" });
  return gitDirectory;
};
