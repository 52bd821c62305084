import { RunNotFoundError } from "../errors/commandErrors.ts";
import type { StoredRun } from "./storedRun.ts";

/** Which of several runs with the same name to choose; with `none` the name is ambiguous. */
export type Preference = "last" | "running" | "none";

const preferred = (namesakes: readonly StoredRun[], preference: Preference): readonly StoredRun[] => {
  if (preference === "none") return namesakes;
  const running = namesakes.filter(({ state }) => state === "running");
  return preference === "running" && running.length > 0 ? running : namesakes.slice(-1);
};

/** Whether a run works on the branch, or merges into it. */
const isOn = ({ strategy, branch, targetBranch }: StoredRun, wanted: string): boolean =>
  branch === wanted || (strategy === "merge-to-head" && targetBranch === wanted);

/**
 * Finds a run by its id, by the beginning or the end of its id, or by its name. Many runs may share a branch, so a branch
 * is only accepted together with a preference.
 */
export const findRun = (
  runs: readonly StoredRun[],
  wanted: string,
  preference: Preference = "none",
): StoredRun => {
  const exact = runs.find(({ runId }) => runId === wanted);
  if (exact !== undefined) return exact;
  const named = preferred(
    runs.filter(({ name }) => name === wanted),
    preference,
  );
  const byPart = runs.filter(({ runId }) => runId.startsWith(wanted) || runId.endsWith(wanted));
  const onBranch =
    preference === "none"
      ? []
      : preferred(
          runs.filter((run) => isOn(run, wanted)),
          preference,
        );
  const found = [named, byPart, onBranch].find(({ length }) => length > 0) ?? [];
  const candidates = wanted === "" ? [] : found;
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0) {
    throw new RunNotFoundError(
      wanted,
      candidates.map(({ runId }) => runId),
    );
  }
  return only;
};
