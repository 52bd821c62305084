import { killMarked, killMarkedNow, type ProcessMark } from "../../process/kill/killMarked.ts";
import { EXEC_ID_VARIABLE } from "../../process/kill/processMarks.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

const markOf = (execId: string): ProcessMark => ({ name: EXEC_ID_VARIABLE, value: execId });

/** Kills commands whose processes the host sees. */
export const killOnHost: Pick<SandboxAccess, "kill" | "killAtExit"> = {
  kill: (execId) => killMarked(markOf(execId)),
  killAtExit: (execId) => killMarkedNow(markOf(execId)),
};
