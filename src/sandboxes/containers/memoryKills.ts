import { askLaunch } from "../exec/runLaunch.ts";
import type { SandboxAccess } from "../exec/sandboxAccess.ts";

/** Prints how many processes of the container its memory limit has killed, under either version of cgroups. */
const COUNT_MEMORY_KILLS =
  "grep -hs '^oom_kill ' /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control";

/** Explains that the container's memory limit killed a command, if the count of such kills has grown. */
export const memoryKillExplainer = (
  launch: SandboxAccess["launch"],
  { limit, timeoutMs }: { readonly limit: string | undefined; readonly timeoutMs: number },
): NonNullable<SandboxAccess["explainKill"]> => {
  let known = 0;
  return async () => {
    const counted = await askLaunch(launch(["sh", "-c", COUNT_MEMORY_KILLS], { sudo: false }), {
      timeoutMs,
    }).catch(() => undefined);
    const kills = Number(/\d+/.exec(counted?.stdout ?? "")?.[0] ?? 0);
    if (kills <= known) return undefined;
    known = kills;
    const amount = limit === undefined ? "" : ` of ${limit}`;
    const problem = `a command was killed, because the memory${amount} was used up`;
    return { problem, details: "", isByCommands: true };
  };
};
