// One session with the bare minimum of commands against one run(): a worktree, a sandbox, one commit, all gone again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { command as agentCommand, run } from "../dist/index.js";
import { command } from "./command.mjs";
import { median, takeTurns } from "./measure.mjs";

const ROUNDS = 10;

/** `git worktree add`, whatever the sandbox takes, `git log`, `git worktree remove`. */
const rawSession = async (repository, runInSandbox, round) => {
  const branch = `raw/${round}`;
  const worktree = `${repository}-raw-${round}`;
  const git = (...args) => command("git", "-C", repository, ...args);
  await git("worktree", "add", "--quiet", "-b", branch, worktree);
  await runInSandbox({
    worktree,
    gitDirectory: join(repository, ".git"),
    name: `sanddune-bench-${process.pid}-${round}`,
  });
  const commits = await git("log", "--format=%H", `main..${branch}`);
  if (commits.trim() === "") throw new Error("the raw session has made no commit");
  await git("worktree", "remove", worktree);
};

const ownSession = async (repository, sandbox, round) => {
  const result = await run({
    agent: agentCommand("sh agent.sh"),
    sandbox,
    cwd: repository,
    branchStrategy: { type: "branch", branch: `own/${round}` },
    prompt: "Work",
  });
  if (result.commits.length !== 1) throw new Error("run() has made no commit");
  return join(repository, ".sanddune/runs", result.runId, "journal.jsonl");
};

const phasesOf = (journal) =>
  readFileSync(journal, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "phase");

/** Medians and samples of both sides, and the median of every phase of run(). */
export const compareSessions = async ({ repository, sandbox, runInSandbox }) => {
  const phases = new Map();
  const samples = await takeTurns(
    {
      raw: { perform: (round) => rawSession(repository, runInSandbox, round) },
      own: {
        perform: (round) => ownSession(repository, sandbox, round),
        after: (journal) => {
          for (const { phase, durationMs } of phasesOf(journal)) {
            phases.set(phase, [...(phases.get(phase) ?? []), durationMs]);
          }
        },
      },
    },
    ROUNDS,
  );
  return {
    samples,
    rawMs: median(samples.raw),
    ownMs: median(samples.own),
    phases: [...phases].map(([phase, durations]) => ({ phase, ms: median(durations) })),
  };
};
