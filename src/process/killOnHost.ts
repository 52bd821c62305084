import { spawnSync } from "node:child_process";
import { runProcess } from "./runProcess.ts";

const KILL_TIMEOUT_MS = 2000;

/** Runs a kill script on the host, for sandboxes whose processes the host sees. Never rejects. */
export const killOnHost = async (argv: readonly string[]): Promise<void> => {
  const [program = "sh", ...args] = argv;
  await runProcess({
    program,
    args,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    timeoutMs: KILL_TIMEOUT_MS,
    captureBytes: 1024,
  }).catch(() => {});
};

/** The same for a process that is about to end, and cannot wait. */
export const killOnHostAtExit = (argv: readonly string[]): void => {
  const [program = "sh", ...args] = argv;
  spawnSync(program, args, {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    stdio: "ignore",
    timeout: KILL_TIMEOUT_MS,
  });
};
