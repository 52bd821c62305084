import { killOnHost, killOnHostAtExit } from "../process/killOnHost.ts";
import { killExecArguments } from "../process/killScript.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

const argumentsFor = (execId: string) =>
  killExecArguments(execId, { ownsProcessNamespace: false, mayStillStart: false });

/** How commands are killed whose processes the host sees. */
export const killedOnHost: Pick<SandboxAccess, "kill" | "killAtExit"> = {
  kill: (execId) => killOnHost(argumentsFor(execId)),
  killAtExit: (execId) => killOnHostAtExit(argumentsFor(execId)),
};
