import { leftProcessesOf } from "../recover/hostProcesses.ts";
import type { CleanScope, Leftover } from "./leftover.ts";

/** Finds processes that host hooks of dead runs left running. */
export const findProcesses = ({ selected }: CleanScope): Leftover[] =>
  selected
    .filter(({ state }) => state === "dead")
    .flatMap((run) =>
      leftProcessesOf(run).map(
        ({ pids, end }): Leftover => ({
          what: "processes",
          name: pids.join(", "),
          runIds: [run.runId],
          detail: "left running by a host hook",
          remove: end,
        }),
      ),
    );
