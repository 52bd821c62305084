import { InvalidTaskError } from "../../errors.ts";
import type { FleetEvent, TaskOutcome, TaskState } from "../../fleet/contract.ts";
import type { LoggingOption } from "../../options/logging.ts";
import type { RunOptions } from "../../options/runOptions.ts";
import { EXIT_RUN_FAILED, EXIT_SUCCESS, EXIT_UNSOLVED, exitCodeOf } from "../shared/exitCodes.ts";
import { print, printJson, terminalColumns } from "../shared/output.ts";
import { forPrograms, reportError } from "../shared/reportError.ts";
import { stopOnSignals } from "../shared/stopSignals.ts";
import { UsageError } from "../shared/usageError.ts";
import { FleetProgress } from "./fleetProgress.ts";
import { countStates, fleetTable } from "./fleetTable.ts";
import type { RunFlags } from "./runFlags.ts";
import { type PlannedTasks, planTasks } from "./taskFile.ts";

const STOPPED = {
  subject: "The fleet",
  kept: "The agents' commits until then are kept.",
  tidying: "stopping the agents and importing their commits",
};

/** Refuses flags for a single run. */
const checkFlags = ({ branch, name, prompt }: RunFlags): void => {
  if (branch !== undefined) {
    throw new UsageError(
      "--branch applies to one run: with --tasks, set the branch in the line of each task",
    );
  }
  if (name !== undefined) {
    throw new UsageError("--name applies to one run: with --tasks, set the name in the line of each task");
  }
  if (prompt === "-") {
    throw new UsageError(
      "--prompt - applies to one run: with --tasks, pass --prompt TEXT or --prompt-file FILE",
    );
  }
};

/** For programs: an outcome as one JSON object. */
const inJson = (outcome: TaskOutcome, line: number | undefined): object => ({
  line,
  ...outcome,
  ...(outcome.error !== undefined && { error: forPrograms(outcome.error) }),
  lost: outcome.lost.map(forPrograms),
});

/** The runs of a fleet print nothing unless asked to: the progress of the fleet is shown instead. */
const loggingOf = (
  logging: LoggingOption = { type: "file" },
  onAgentStreamEvent: LoggingOption["onAgentStreamEvent"],
): LoggingOption => ({ ...logging, quiet: true, ...(onAgentStreamEvent && { onAgentStreamEvent }) });

const performPlanned = async (planned: PlannedTasks, flags: RunFlags, signal: AbortSignal) => {
  const json = flags.json ?? false;
  const progress = new FleetProgress(planned.tasks.length, {
    json,
    runsAreShown: flags.logging === "stdout",
  });
  const tasks = planned.tasks.map(
    (task, index): RunOptions => ({
      ...task,
      logging: loggingOf(task.logging, (event) => progress.agentEvent(index, event)),
    }),
  );
  const onProgress = (event: FleetEvent) => {
    progress.event(event);
    if (json && event.type === "finished") {
      void printJson(inJson(event.outcome, planned.lines[event.outcome.index]));
    }
  };
  const { runAll } = await import("../../runAll.ts");
  const { concurrency, retries } = flags;
  try {
    return await runAll<RunOptions["sandbox"], unknown>(tasks, {
      signal,
      onProgress,
      ...(concurrency !== undefined && { concurrency }),
      ...(retries !== undefined && { retries }),
    });
  } catch (error) {
    throw error instanceof InvalidTaskError ? planned.refusal(error) : error;
  } finally {
    progress.close();
  }
};

const exitCodeOfStates = (states: readonly TaskState[]): number => {
  const others = states.filter((state) => state !== "succeeded");
  if (others.length === 0) return EXIT_SUCCESS;
  return others.every((state) => state === "unsolved") ? EXIT_UNSOLVED : EXIT_RUN_FAILED;
};

/** `sanddune run --tasks`: a file in, one call of `runAll()`, its outcomes out. */
export const performTasks = async (path: string, flags: RunFlags): Promise<void> => {
  const json = flags.json ?? false;
  try {
    checkFlags(flags);
    const planned = await planTasks(path, { ...flags, logging: flags.logging ?? "file" });
    using stop = stopOnSignals(STOPPED);
    const { outcomes } = await performPlanned(planned, flags, stop.signal);
    const states = outcomes.map(({ state }) => state);
    if (!json) {
      await print([...fleetTable(outcomes, terminalColumns()), "", countStates(states)].join("\n"));
    }
    process.exitCode = exitCodeOfStates(states);
    if (stop.signal.aborted) process.exitCode = exitCodeOf(stop.signal.reason);
  } catch (error) {
    process.exitCode = await reportError(error, { json, isShown: false });
  }
};
