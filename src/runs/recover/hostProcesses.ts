import * as Effect from "effect/Effect";
import { findMarked, killMarked } from "../../process/kill/killMarked.ts";
import { EXEC_ID_VARIABLE } from "../../process/kill/processMarks.ts";
import { amendJournal } from "../journal/writeJournal.ts";
import type { StoredRun } from "../storedRun.ts";

/** Processes that a host hook of a dead run left running. */
export interface LeftProcesses {
  readonly pids: readonly number[];
  readonly end: Effect.Effect<void>;
}

export const leftProcessesOf = ({ owns, runDirectory }: StoredRun): LeftProcesses[] =>
  owns
    .filter(({ what }) => what === "host processes")
    .flatMap(({ name }) => {
      const mark = { name: EXEC_ID_VARIABLE, value: name };
      const pids = findMarked(mark);
      if (pids.length === 0) return [];
      const end = Effect.promise(async () => {
        await killMarked(mark);
        amendJournal(runDirectory, { type: "removed", what: "host processes", name });
      });
      return [{ pids, end }];
    });
