import { RunNotFoundError } from "../commandErrors.ts";
import type { RunRecord } from "./runRecord.ts";

/** Which of several runs of one name is meant: the last one, the one that is running, or none of them. */
export type Preference = "last" | "running" | "none";

const preferred = (namesakes: readonly RunRecord[], preference: Preference): readonly RunRecord[] => {
  if (preference === "none") return namesakes;
  const running = namesakes.filter(({ state }) => state === "running");
  return preference === "running" && running.length > 0 ? running : namesakes.slice(-1);
};

/** The run that is meant: by its id, by the beginning or the end of its id, or by its name. */
export const findRun = (
  runs: readonly RunRecord[],
  wanted: string,
  preference: Preference = "none",
): RunRecord => {
  const exact = runs.find(({ runId }) => runId === wanted);
  if (exact !== undefined) return exact;
  const named = preferred(
    runs.filter(({ name }) => name === wanted),
    preference,
  );
  const byPart = runs.filter(({ runId }) => runId.startsWith(wanted) || runId.endsWith(wanted));
  const candidates = named.length > 0 ? named : wanted === "" ? [] : byPart;
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0) {
    throw new RunNotFoundError(
      wanted,
      candidates.map(({ runId }) => runId),
    );
  }
  return only;
};
