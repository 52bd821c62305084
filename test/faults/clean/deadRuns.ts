import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { worktreeDirectoryName } from "../../../src/git/worktrees/worktrees.ts";
import { listRuns } from "../../../src/runs/listRuns.ts";
import { commits, hang } from "../../helpers/agents/agentScripts.ts";
import { temporaryDirectory, temporaryRepository } from "../../helpers/repository/repository.ts";
import { TEST_IMAGE } from "../../helpers/runtimes/runtimes.ts";
import { startProgram, useProgram } from "../kill/killedPrograms.ts";
import type { RunOrder, RunsOrder } from "../kill/runsUntilKilled.ts";

/** A run whose agent does something, then hangs; on branch `b` in bubblewrap unless told otherwise. */
export interface HangingOrder extends Partial<Omit<RunOrder, "name" | "steps">> {
  readonly script?: string;
}

export interface HangingRun {
  readonly runId: string;
  isAgentAlive(): boolean;
}

export interface HangingRuns<Orders extends readonly HangingOrder[]> {
  readonly cwd: string;
  /** Where their process has its temporary files. */
  readonly temporary: string;
  readonly runs: { readonly [Index in keyof Orders]: HangingRun };
  /** Kills the process that runs them, so that it cannot clean up. */
  die(): Promise<void>;
}

type StartRuns = <const Orders extends readonly HangingOrder[]>(
  orders: Orders,
  cwd?: string,
) => Promise<HangingRuns<Orders>>;

const removeContainer = (engine: "docker" | "podman", runId: string): void =>
  void spawnSync(engine, ["rm", "--force", `sanddune-${runId}`]);

/** For the tests of a file: starts runs, all in one process, and waits until all their agents hang. */
export const useHangingRuns = (): { readonly startRuns: StartRuns; readonly deadRuns: StartRuns } => {
  const program = useProgram("runsUntilKilled.ts");
  let count = 0;
  const startRuns: StartRuns = async (orders, cwd = temporaryRepository()) => {
    const [marks, temporary] = [temporaryDirectory(), temporaryDirectory()];
    const hanging = orders.map(({ script = "", ...changes }) => {
      const name = `run-${++count}`;
      const { line, isThere } = hang();
      const order: RunOrder = {
        sandbox: "bubblewrap",
        branchStrategy: { type: "branch", branch: "b" },
        ...changes,
        name,
        steps: [{ shell: `${script}\ntouch ${marks}/${name}; exec ${line}` }],
      };
      return { order, isThere };
    });
    const order: RunsOrder = { cwd, image: TEST_IMAGE, marks, runs: hanging.map((run) => run.order) };
    const when = () => hanging.every((run) => existsSync(join(marks, run.order.name)));
    const { die } = await startProgram(program(), { order, when, temporary });
    const records = listRuns({ configDirectory: join(cwd, ".sanddune") });
    const runs = hanging.map(({ order: { name, sandbox }, isThere }): HangingRun => {
      const { runId = "" } = records.find((record) => record.name === name) ?? {};
      if (sandbox === "docker" || sandbox === "podman") onTestFinished(() => removeContainer(sandbox, runId));
      return { runId, isAgentAlive: isThere };
    });
    return { cwd, temporary, runs: runs as never, die };
  };
  const deadRuns: StartRuns = async (orders, cwd) => {
    const hanging = await startRuns(orders, cwd);
    await hanging.die();
    return hanging;
  };
  return { startRuns, deadRuns };
};

export const onBranch = (branch: string) => ({ branchStrategy: { type: "branch", branch } }) as const;

/** The first invocation of the agent commits, and the commit is imported; the second one hangs. */
export const commitsFirst = (name: string) =>
  ({ script: `[ -e ${name}.txt ] || { ${commits(name)}; exit 0; }`, maxIterations: 2 }) as const;

/** The directory of sanddune's worktree for a branch. */
export const worktreeFor = (cwd: string, branch = "b"): string =>
  join(cwd, ".sanddune/worktrees", worktreeDirectoryName(branch));
