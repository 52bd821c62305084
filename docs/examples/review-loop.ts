// One agent writes, another one reviews, until there is nothing left to say: node review-loop.ts 'Add a farewell'
import { command, createWorktree, Output } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";

const author = command("sh ./author.sh"); // claudeCode("claude-opus-4-8"), say
const reviewer = command("sh ./reviewer.sh"); // codex("gpt-6-sol"), say
const sandbox = bubblewrap();
const task = process.argv[2] ?? "Add a farewell";
const MAX_ROUNDS = 3;

// A worktree that lasts, and a new sandbox for each run: the author leaves nothing behind that could sway the reviewer
// but the files and the commits themselves.
const worktree = await createWorktree({
  branchStrategy: { type: "branch", branch: "agent/reviewed" },
});

try {
  await worktree.run({ agent: author, sandbox, prompt: `${task}. Commit what you have done.` });

  let remarks = "";
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const review = await worktree.run({
      agent: reviewer,
      sandbox,
      prompt: `Review "git diff main...HEAD"; the task was: ${task}. Change nothing.
Answer with <remarks>what has to change, one remark a line</remarks>; leave the tag empty if nothing has to.`,
      output: Output.string({ tag: "remarks" }),
    });
    remarks = review.output;
    if (remarks === "") break;
    // An agent's words must not steer your terminal.
    console.log(`Round ${round}:\n${remarks.replace(/[^\P{Cc}\n]/gu, "")}`);
    await worktree.run({
      agent: author,
      sandbox,
      prompt: `${task}. A reviewer remarks:\n${remarks}\nCommit your changes.`,
    });
  }

  console.log(remarks === "" ? `Approved: ${worktree.branch}` : `Look at it yourself: ${worktree.branch}`);
  if (remarks !== "") process.exitCode = 1;
} finally {
  await worktree.close();
}
