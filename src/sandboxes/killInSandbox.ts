import { killExecArguments } from "../process/killScript.ts";
import { askLaunch } from "./runLaunch.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

/** Another machine may be far away. */
const KILL_TIMEOUT_MS = 10_000;

/** How commands are killed where ending the connection ends nothing: by another command that looks for them. */
export const killInSandbox =
  (
    launch: SandboxAccess["launch"],
    { ownsProcessNamespace }: { readonly ownsProcessNamespace: boolean },
  ): SandboxAccess["kill"] =>
  async (execId, { sudo }) => {
    const argv = killExecArguments(execId, { ownsProcessNamespace, mayStillStart: true });
    const kill = (asRoot: boolean) =>
      askLaunch(launch(argv, { sudo: asRoot }), { timeoutMs: KILL_TIMEOUT_MS }).catch(() => undefined);
    await Promise.all(sudo ? [kill(true), kill(false)] : [kill(false)]);
  };
