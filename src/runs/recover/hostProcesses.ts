import { readdirSync, readFileSync } from "node:fs";
import * as Effect from "effect/Effect";
import { killOnHost } from "../../process/killOnHost.ts";
import { killExecArguments } from "../../process/killScript.ts";
import { EXEC_ID_VARIABLE } from "../../process/processMarks.ts";
import { amendJournal } from "../journalFile.ts";
import type { RunRecord } from "../runRecord.ts";

/** Processes of this machine whose environment carries the mark. */
const processesWith = (mark: string): number[] => {
  const pids = (() => {
    try {
      return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    } catch {
      return [];
    }
  })();
  return pids
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(mark);
      } catch {
        return false;
      }
    })
    .map(Number);
};

/** What a host hook of a dead run has left running. */
export interface LeftProcesses {
  readonly pids: readonly number[];
  readonly end: Effect.Effect<void>;
}

export const leftProcessesOf = ({ owns, runDirectory }: RunRecord): LeftProcesses[] =>
  owns
    .filter(({ what }) => what === "host processes")
    .flatMap(({ name }) => {
      const pids = processesWith(`${EXEC_ID_VARIABLE}=${name}`);
      if (pids.length === 0) return [];
      const end = Effect.promise(async () => {
        await killOnHost(killExecArguments(name, { ownsProcessNamespace: false, mayStillStart: false }));
        amendJournal(runDirectory, { type: "removed", what: "host processes", name });
      });
      return [{ pids, end }];
    });
