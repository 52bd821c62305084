import { type ChildProcess, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CleanOutcome } from "../../../src/runs/clean/cleanUp.ts";
import { hang } from "../../helpers/agents/agentScripts.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { runCli } from "../callCli.ts";
import { repositoryWithAgent } from "../fixtures.ts";
import { type CliResult, startCli } from "../startCli.ts";

/** A line of `sanddune ps --json`. */
export interface ToldRun {
  readonly runId: string;
  readonly runDirectory: string;
  readonly state: string;
  readonly kind: string;
  readonly pid: number;
  readonly branch?: string;
  readonly within?: string;
  readonly commits: readonly { readonly sha: string }[];
  readonly [field: string]: unknown;
}

export const ps = async (cwd: string): Promise<ToldRun[]> =>
  JSON.parse((await runCli(["ps", "--json"], { cwd })).stdout);

/** What `sanddune clean` says that it has done, or would do. */
export const clean = async (cwd: string, ...flags: string[]): Promise<CleanOutcome[]> => {
  const { stdout, stderr } = await runCli(["clean", "--json", ...flags], { cwd });
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout);
};

/** What became of what: `removed worktree`, `kept files`; in the order in which it was done. */
export const outcomesOf = (outcomes: readonly CleanOutcome[]): string[] =>
  outcomes.map(({ outcome, what }) => `${outcome} ${what}`);

export type SandboxFlag = "bubblewrap" | "docker" | "podman";

export const sandboxFlags = (sandbox: SandboxFlag): string[] => [
  "--sandbox",
  sandbox,
  ...(sandbox === "bubblewrap" ? [] : ["--image-name", TEST_IMAGE]),
];

export interface HangingRun {
  readonly cwd: string;
  readonly runId: string;
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
  /** Whether the agent is still at work. */
  isAgentAlive(): boolean;
  /** Kills the process that runs the run, which cannot tidy up then. */
  die(): Promise<void>;
}

export interface HangingRunOptions {
  /** What the agent does before it hangs. */
  readonly script?: string;
  /** A repository with the agent of an earlier run. */
  readonly cwd?: string;
  readonly sandbox?: SandboxFlag;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a run whose agent does something, then hangs; resolves once it does. */
export const startHangingRun = async ({
  script = "",
  cwd = repositoryWithAgent(`eval "$(cat)"\n`),
  sandbox = "bubblewrap",
  flags = ["--branch", "b"],
  env = {},
}: HangingRunOptions = {}): Promise<HangingRun> => {
  const { line, isThere } = hang();
  // The prompt is the script: runs in one repository may differ.
  const prompt = `${script}\n${line}`;
  const { child, result } = startCli(
    [
      ...["run", "--agent-command", "sh ./agent.sh", "--prompt", prompt, "--json"],
      ...sandboxFlags(sandbox),
      ...flags,
    ],
    // A sandbox that is a directory goes with the test, too.
    { cwd, env: { TMPDIR: temporaryDirectory(), ...env } },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await waitFor(() => isThere() || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`The run has ended: ${JSON.stringify(await result)}`);
  const { runId = "" } = (await ps(cwd)).find(({ pid }) => pid === child.pid) ?? {};
  if (sandbox !== "bubblewrap") {
    onTestFinished(() => void spawnSync(sandbox, ["rm", "--force", `sanddune-${runId}`]));
  }
  return {
    cwd,
    runId,
    child,
    result,
    isAgentAlive: isThere,
    die: async () => {
      child.kill("SIGKILL");
      await result;
    },
  };
};

/** A run that was killed in the middle. */
export const deadRun = async (options: HangingRunOptions = {}): Promise<HangingRun> => {
  const run = await startHangingRun(options);
  await run.die();
  return run;
};

/** The only worktree of sanddune's in a repository. */
export const worktreeOf = (cwd: string): string => {
  const worktrees = join(cwd, ".sanddune/worktrees");
  return join(worktrees, readdirSync(worktrees).find((name) => name !== ".gitignore") ?? "none");
};

/** What `sanddune clean --yes` tells people. */
export const cleanInWords = async (cwd: string, ...flags: string[]): Promise<string> =>
  (await runCli(["clean", "--yes", ...flags], { cwd })).stdout;
