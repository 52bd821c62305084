import type { TestResults } from "../../environment/contract.ts";
import type { ChangedFile } from "../../git/snapshots/checkpointDiff.ts";
import { counted } from "../../tools/counted.ts";
import type { RecordedRun } from "../read/readTrajectory.ts";
import type { RecordedStep } from "../read/steps.ts";

const sum = (files: readonly ChangedFile[], of: "added" | "removed"): number =>
  files.reduce((total, file) => total + (file[of] ?? 0), 0);

/** The changes of a step in short: `2 files, +10 -3`. */
export const showChange = ({ change, files, checkpoint, isHere, isIncomplete }: RecordedStep): string => {
  if (change === "none") return "";
  if (change === "unknown") return "not known";
  if (change === "shared") return `together with ${checkpoint}`;
  if (!isHere) return "changed, not here";
  const all = `${counted(files.length, "file")}, +${sum(files, "added")} -${sum(files, "removed")}`;
  return isIncomplete ? `${all}, not all` : all;
};

/** `3/7`; empty if there were no tests. */
export const showTests = (results: TestResults | undefined): string => {
  if (results === undefined) return "";
  return `${results.passed}/${results.total}${results.error === null ? "" : " !"}`;
};

export const showTool = ({ tool, number }: RecordedStep): string => tool ?? (number === 0 ? "" : "-");

/** How a step ended, if it did not succeed. */
export const showTrouble = ({ isError, isUnfinished }: RecordedStep): string => {
  if (isUnfinished) return "cut off";
  return isError ? "failed" : "";
};

/** The agent with its version and model, if they are known. */
export const showAgent = ({ model, agentVersion }: RecordedRun): string[] => [
  ...(model === undefined ? [] : [`Model: ${model}`]),
  ...(agentVersion === undefined ? [] : [`Agent version: ${agentVersion}`]),
];
