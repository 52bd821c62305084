// One session with the bare minimum of commands: a worktree, a sandbox, a commit, all gone again.
import { join } from "node:path";
import { command } from "../machine/command.mjs";
import { OPEN_RAW } from "./rawSandboxes.mjs";

const git = (repository, ...args) => command("git", "-C", repository, ...args);
let containers = 0;

/** Opens a sandbox by hand, and closes it when `work` is over. */
export const withRawSandbox = async ({ kind, repository, worktree, mounts }, work) => {
  const sandbox = await OPEN_RAW[kind]({
    worktree,
    gitDirectory: join(repository, ".git"),
    name: `sanddune-bench-${process.pid}-${containers++}`,
    mounts,
  });
  try {
    return await work(sandbox);
  } finally {
    await sandbox.close();
  }
};

const IS_RACE = /failed to read .*\/commondir/;

/** Git fails if it reads a worktree that another `git worktree add` has half made. By hand, one would try again. */
const addWorktree = async (repository, branch, worktree) => {
  const add = (...args) => git(repository, "worktree", "add", "--quiet", ...args);
  try {
    await add("-b", branch, worktree);
  } catch (error) {
    if (!IS_RACE.test(error.message)) throw error;
    // The branch may exist already.
    await add("-B", branch, worktree);
  }
};

/** `git worktree add`, `work`, `git worktree remove`. */
export const withRawWorktree = async (repository, branch, work) => {
  const worktree = `${repository}-${branch.replaceAll("/", "-")}`;
  await addWorktree(repository, branch, worktree);
  try {
    return await work(worktree);
  } finally {
    await git(repository, "worktree", "remove", "--force", worktree);
  }
};

const commitsSince = async (repository, base, branch) => {
  const commits = await git(repository, "log", "--format=%H", `${base}..${branch}`);
  if (commits.trim() === "") throw new Error("the raw session has made no commit");
};

/** What the agent printed. */
export const rawSession = async ({
  kind,
  repository,
  strategy,
  name,
  agent,
  iterations = 1,
  mounts,
  onFirstByte,
}) => {
  const workIn = (worktree) =>
    withRawSandbox({ kind, repository, worktree, mounts }, async (sandbox) => {
      let stdout = "";
      for (let count = 0; count < iterations; count++) stdout += await sandbox.exec(agent, onFirstByte);
      return stdout;
    });
  const branch = `raw/${name}`;
  if (strategy === "head") {
    const stdout = await workIn(repository);
    await commitsSince(repository, "HEAD~1", "HEAD");
    return { stdout };
  }
  const stdout = await withRawWorktree(repository, branch, workIn);
  await commitsSince(repository, "HEAD", branch);
  if (strategy === "merge-to-head") {
    await git(repository, "merge", "--quiet", "--no-edit", branch);
    await git(repository, "branch", "--quiet", "-d", branch);
  }
  return { stdout };
};
