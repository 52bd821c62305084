import { killExecArguments } from "../../process/kill/killScript.ts";
import type { Reachability } from "../relay/reachability.ts";
import { askLaunch } from "./runLaunch.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

/** Another machine may be far away. */
const KILL_TIMEOUT_MS = 10_000;

/** Kills commands where closing the connection does not: by another command that looks for them. */
export const killInSandbox =
  (
    launch: SandboxAccess["launch"],
    {
      ownsProcessNamespace,
      reach,
    }: { readonly ownsProcessNamespace: boolean; readonly reach?: Reachability | undefined },
  ): SandboxAccess["kill"] =>
  async (execId, { sudo }) => {
    const argv = killExecArguments(execId, { ownsProcessNamespace, mayStillStart: true });
    const kill = (asRoot: boolean) =>
      askLaunch(launch(argv, { sudo: asRoot }), { timeoutMs: KILL_TIMEOUT_MS }).then(
        ({ exitCode }) => exitCode === 0,
        () => false,
      );
    const killAll = () => Promise.all(sudo ? [kill(true), kill(false)] : [kill(false)]);
    if ((await killAll()).every(Boolean) || reach === undefined) return;
    // In the background: for its caller the command is over; in the sandbox it is killed once that can be reached.
    reach.suspect();
    reach.wait().then(killAll, () => {});
  };
