import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { startCli } from "../../cli/startCli.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import type { HangingRun } from "./deadRuns.ts";

/**
 * Runs of the command line, whose SDK of a cloud is the real one: one on each branch, in one process that was killed
 * while their agents were at work.
 */
export const deadCloudRuns = async (
  branches: readonly string[],
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly cwd: string; readonly runOn: (branch: string) => HangingRun }> => {
  const [cwd, directory] = [temporaryRepository(), temporaryDirectory()];
  const hanging = branches.map((branch) => ({ branch, ...hang() }));
  const tasks = hanging.map(({ branch, line }) => ({
    branch,
    prompt: `echo alone >alone.txt; touch ${directory}/${branch}; ${line}`,
  }));
  const file = join(directory, "tasks.jsonl");
  writeFileSync(file, tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
  const run = ["run", "--tasks", file, "--concurrency", String(tasks.length), "--agent-command", "sh -s"];
  const { child, result } = startCli([...run, ...flags], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const isReached = () => branches.every((branch) => existsSync(join(directory, branch)));
  await waitFor(() => child.exitCode !== null || isReached(), 60_000);
  if (child.exitCode !== null) throw new Error(JSON.stringify(await result));
  child.kill("SIGKILL");
  await result;
  const records = listRuns({ configDirectory: join(cwd, ".sanddune") });
  const runOn = (branch: string): HangingRun => {
    const { runId = "" } = records.find((record) => record.branch === branch) ?? {};
    return { runId, isAgentAlive: () => hanging.some((each) => each.branch === branch && each.isThere()) };
  };
  return { cwd, runOn };
};
