import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { git } from "../repository/repository.ts";

const entries = (path: string): string[] =>
  existsSync(path) ? readdirSync(path).filter((name) => name !== ".gitignore") : [];

/** What a finished run has no business leaving: worktrees, refs, locks, files of its sandbox, overlays. */
export const leftovers = (cwd: string): string[] => {
  const worktrees = git(cwd, "worktree", "list", "--porcelain")
    .split("\n")
    .filter((line) => line.startsWith("worktree "))
    .slice(1);
  const refs = git(cwd, "for-each-ref", "--format=%(refname)", "refs/sanddune", "refs/heads/sanddune").split(
    "\n",
  );
  const locks = entries(join(cwd, ".git/sanddune/locks"));
  const worktreeDirectories = entries(join(cwd, ".sanddune/worktrees"));
  const runFiles = entries(join(cwd, ".sanddune/runs")).flatMap((run) =>
    entries(join(cwd, ".sanddune/runs", run))
      // Kept files are guarded from `git clean`.
      .filter((name, _, all) => name !== "journal.jsonl" && (name !== ".git" || !all.includes("files")))
      .map((name) => `runs/${run}/${name}`),
  );
  const overlays = entries(join(cwd, ".git/sanddune/overlays"));
  return [...worktrees, ...refs, ...locks, ...worktreeDirectories, ...runFiles, ...overlays].filter(
    (item) => item !== "",
  );
};
