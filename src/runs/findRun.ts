import { RunNotFoundError } from "../errors/commandErrors.ts";
import type { StoredRun } from "./storedRun.ts";

/** Which of several runs of one name is meant: the last one, the one that is running, or none of them. */
export type Preference = "last" | "running" | "none";

const preferred = (namesakes: readonly StoredRun[], preference: Preference): readonly StoredRun[] => {
  if (preference === "none") return namesakes;
  const running = namesakes.filter(({ state }) => state === "running");
  return preference === "running" && running.length > 0 ? running : namesakes.slice(-1);
};

/** Where the commits go, and where they are until then. */
const isOn = ({ strategy, branch, targetBranch }: StoredRun, wanted: string): boolean =>
  branch === wanted || (strategy === "merge-to-head" && targetBranch === wanted);

/**
 * The run that is meant: by its id, by the beginning or the end of its id, or by its name. By its branch as well, of which
 * there may have been many: only where one of them is preferred.
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
