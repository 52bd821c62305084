import { randomBytes } from "node:crypto";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import { environmentWithoutRepository } from "../../git/environmentWithoutRepository.ts";
import type { HostHook, SandboxHook } from "../../options/hooks.ts";
import { killMarked } from "../../process/kill/killMarked.ts";
import { EXEC_ID_VARIABLE } from "../../process/kill/processMarks.ts";
import { runProcess } from "../../process/runProcess.ts";
import type { SandboxHandle } from "../../sandboxes/contract.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { HookName, HookRunner } from "./runHook.ts";

export interface HostDirectory {
  readonly path: string;
  /** Throws if the directory is not, or no longer, in the checkout. */
  readonly check: () => void;
  /** Called before the first hook, with the id that marks all processes of the hooks. */
  readonly onExecId: (execId: string) => void;
}

/** Runs hooks on the host, with the host's environment. The scope kills processes that they leave running. */
export const openHostHookRunner = (
  directory: HostDirectory,
): Effect.Effect<(name: HookName) => HookRunner<HostHook>, never, Scope.Scope> => {
  const execId = randomBytes(16).toString("hex");
  const ended = new AbortController();
  let isUsed = false;
  const run: HookRunner<HostHook>["run"] = async ({ command }, { onLine, ...options }) => {
    directory.check();
    if (!isUsed) directory.onExecId(execId);
    isUsed = true;
    return runProcess({
      program: "sh",
      args: ["-c", command],
      cwd: directory.path,
      env: { ...environmentWithoutRepository(), [EXEC_ID_VARIABLE]: execId },
      keepsReading: ended.signal,
      onStdoutLine: onLine,
      onStderrLine: onLine,
      ...options,
    });
  };
  const endAll = Effect.promise(async () => {
    if (isUsed) await killMarked({ name: EXEC_ID_VARIABLE, value: execId });
    ended.abort();
  });
  return Effect.as(
    Effect.addFinalizer(() => endAll),
    (name) => ({ name, run }),
  );
};

const CHOWN_TIMEOUT_MS = 10_000;

/** Records the time for `giveAway`, minus one second: the resolution of some file systems. */
const rememberTime = (mark: string): string => `touch -d "@$(($(date +%s) - 1))" ${mark}`;

/**
 * Changes the owner of files that root created in the worktree to the worktree's owner. Otherwise neither the agent
 * nor the host's user could change or remove them.
 */
const giveAway = (mark: string, worktreePath: string): string => `
owner=$(stat -c %u:%g ${shellQuote(worktreePath)})
case $owner in
  0:* | "") ;;
  *) find ${shellQuote(worktreePath)} -xdev -user 0 -cnewer ${mark} -exec chown -h "$owner" {} + ;;
esac
rm -f ${mark}`;

/** Runs hooks in the sandbox, in the directory where the agent starts. */
export const sandboxHookRunner = (sandbox: SandboxHandle, cwd: string): HookRunner<SandboxHook> => ({
  name: "sandbox.onSandboxReady",
  run: async ({ command, sudo = false }, { onLine, ...options }) => {
    const mark = `/tmp/.sanddune-${randomBytes(8).toString("hex")}`;
    const prepared = sudo ? `${rememberTime(mark)}\n${command}` : command;
    try {
      return await sandbox.exec(prepared, { cwd, sudo, onLine, onStderrLine: onLine, ...options });
    } finally {
      // Also after a hook that was killed. If the sandbox was lost, its files are lost too.
      if (sudo) {
        const script = giveAway(mark, sandbox.worktreePath);
        await sandbox.exec(script, { sudo, timeoutMs: CHOWN_TIMEOUT_MS }).catch(() => {});
      }
    }
  },
});
