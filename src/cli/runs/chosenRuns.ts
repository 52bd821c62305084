import { NoRunError } from "../../errors/commandErrors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { findRun } from "../../runs/findRun.ts";
import type { StoredRun } from "../../runs/storedRun.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";
import { destinationOf } from "./runTable.ts";

const titleOf = (run: StoredRun): string =>
  [run.runId, [run.state, run.name, destinationOf(run)].filter((part) => part !== undefined).join(", ")].join(
    "  ",
  );

/** The run to show: the one with that name, of several the last; without a name, the latest run. */
export const runToShow = async (
  runs: readonly StoredRun[],
  wanted: string | undefined,
  /** Which runs can be shown, and the error if there is none. */
  {
    has = () => true,
    missing,
  }: { readonly has?: (run: StoredRun) => boolean; readonly missing?: string } = {},
): Promise<StoredRun> => {
  if (wanted !== undefined) return findRun(runs, wanted, "last");
  if (runs.length === 0) {
    throw new NoRunError(`There are no runs in this repository yet. To start one: ${sandduneCommand("run")}`);
  }
  const latest = runs.findLast(has);
  if (latest === undefined) throw new NoRunError(missing ?? "There is no such run in this repository.");
  await tell(`Run ${titleOf(latest)}`);
  return latest;
};

const isRunning = ({ state }: StoredRun): boolean => state === "running";

/** Without a name, the user means an agent, and not a lasting sandbox or worktree. */
const hasAgent = ({ kind }: StoredRun): boolean => kind === "run" || kind === "interactive";

const ask = async (runs: readonly StoredRun[]): Promise<readonly StoredRun[]> => {
  const { askAtTerminal } = await import("../init/questions.ts");
  const choices = Object.fromEntries(
    runs.map((run) => [run.runId, titleOf(run).slice(run.runId.length + 2)]),
  );
  const chosen = await askAtTerminal({ text: "Which run do you want to stop?", flag: "--run", choices });
  return runs.filter(({ runId }) => runId === chosen);
};

/** The runs to stop: those with these names, or the running one. If there are several, it asks at a terminal. */
export const runsToStop = async (
  runs: readonly StoredRun[],
  wanted: readonly string[],
  { all, mayAsk }: { readonly all: boolean; readonly mayAsk: boolean },
): Promise<readonly StoredRun[]> => {
  if (all && wanted.length > 0) throw new UsageError("--all stops every run: do not name one");
  if (wanted.length > 0) return [...new Set(wanted.map((one) => findRun(runs, one, "running")))];
  const running = runs.filter(isRunning);
  if (all) return running;
  const agents = running.filter(hasAgent);
  const candidates = agents.length > 0 ? agents : running;
  if (candidates.length <= 1) return candidates;
  if (mayAsk) return ask(candidates.toReversed());
  throw new UsageError(
    `${candidates.length} runs are running. Name one, or stop them all with --all:\n${candidates.map((run) => `  ${titleOf(run)}`).join("\n")}`,
  );
};

/** The runs to rescue: those with these names, or all dead runs that were not rescued yet. */
export const runsToRescue = (runs: readonly StoredRun[], wanted: readonly string[]): readonly StoredRun[] =>
  wanted.length > 0
    ? [...new Set(wanted.map((one) => findRun(runs, one, "last")))]
    : runs.filter(
        ({ state, recovery, isCleaned }) => state === "dead" && recovery === undefined && !isCleaned,
      );
