// One issue, unattended, in a CI job: ISSUE=42 node ci.ts
import { appendFileSync } from "node:fs";
import { command, run, SandduneError } from "@missingstudio/sanddune";
import { bubblewrap } from "@missingstudio/sanddune/sandboxes/bubblewrap";

const agent = command("sh ./agent.sh"); // claudeCode("claude-opus-4-8"), say
const issue = process.env["ISSUE"] ?? "42";
const summaryFile = process.env["GITHUB_STEP_SUMMARY"];
const TIME_LIMIT_MS = 25 * 60_000;

const report = (text: string): void => {
  console.log(text);
  if (summaryFile !== undefined) appendFileSync(summaryFile, `${text}\n\n`);
};

// A job that is cancelled or runs out of time still imports its commits.
const cancelled = new AbortController();
process.once("SIGTERM", () => cancelled.abort(new Error("The job was cancelled.")));

try {
  const result = await run({
    agent,
    sandbox: bubblewrap(),
    branchStrategy: { type: "branch", branch: `agent/issue-${issue}` },
    promptFile: "prompts/issue.md",
    promptArgs: { ISSUE: issue },
    maxIterations: 5,
    idleTimeoutSeconds: 300,
    logging: { type: "stdout" },
    signal: AbortSignal.any([cancelled.signal, AbortSignal.timeout(TIME_LIMIT_MS)]),
  });
  const isDone = result.completionSignal !== undefined;
  report(`${isDone ? "Done" : "Not finished"}: ${result.commits.length} commits on ${result.branch}`);
  for (const path of result.protectedPaths) report(`Look closely at ${path}: it runs by itself.`);
  if (!isDone) process.exitCode = 1;
} catch (error) {
  const commits = error instanceof SandduneError ? (error.commits ?? []) : [];
  report(`Failed with ${commits.length} commits: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
