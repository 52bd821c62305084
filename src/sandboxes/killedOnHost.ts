import { killMarked } from "../process/killMarked.ts";
import { EXEC_ID_VARIABLE } from "../process/processMarks.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

const kill = (execId: string): void => killMarked({ name: EXEC_ID_VARIABLE, value: execId });

/** How commands are killed whose processes the host sees. */
export const killedOnHost: Pick<SandboxAccess, "kill" | "killAtExit"> = {
  kill: async (execId) => kill(execId),
  killAtExit: kill,
};
