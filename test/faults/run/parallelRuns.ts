/**
 * Makes several worktrees at once in one repository, as a process of its own: argv is the repository, a prefix, how many
 * runs make one each, and how many worktrees a hand commits in.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createWorktree, run, scripted } from "../../../src/index.ts";
import { bubblewrap } from "../../../src/sandboxes/bubblewrap.ts";

const [cwd = "", prefix = "", runs = "", byHand = ""] = process.argv.slice(2);

const committed = async (branch: string): Promise<string[]> => {
  const { commits } = await run({
    agent: scripted([{ commit: branch, files: { [`${branch.replace("/", "-")}.txt`]: `${branch}\n` } }]),
    sandbox: bubblewrap(),
    branchStrategy: { type: "branch", branch },
    prompt: "Work",
    cwd,
  });
  return commits.map(({ sha }) => sha);
};

const committedByHand = async (branch: string): Promise<string[]> => {
  await using worktree = await createWorktree({ cwd, branchStrategy: { type: "branch", branch } });
  const git = (...args: string[]) => promisify(execFile)("git", args, { cwd: worktree.worktreePath });
  await git("commit", "--quiet", "--allow-empty", "-m", branch);
  return [(await git("rev-parse", "HEAD")).stdout.trim()];
};

const results = await Promise.all(
  Array.from({ length: Number(runs) + Number(byHand) }, (_, number) => {
    const branch = `${prefix}/${number}`;
    return (number < Number(runs) ? committed(branch) : committedByHand(branch)).then(
      (commits) => ({ branch, commits }),
      (error: Error) => ({ branch, problem: String(error) }),
    );
  }),
);
console.log(JSON.stringify(results));
