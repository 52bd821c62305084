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

/** Where hooks on the host run. */
export interface HostDirectory {
  readonly path: string;
  /** Throws if the directory is not what it should be (any more). */
  readonly check: () => void;
  /** Called with the id by which all processes of the hooks can be found, before there are any. */
  readonly onExecId: (execId: string) => void;
}

/** Hooks on the host run with the host's environment. What they leave running ends with the scope. */
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

/** Remembers the time, for `giveAway`: one second back, because file systems do not know it more exactly. */
const rememberTime = (mark: string): string => `touch -d "@$(($(date +%s) - 1))" ${mark}`;

/**
 * What root has made in the worktree is given to the worktree's owner: neither the agent nor the host's user could
 * change or remove it otherwise.
 */
const giveAway = (mark: string, worktreePath: string): string => `
owner=$(stat -c %u:%g ${shellQuote(worktreePath)})
case $owner in
  0:* | "") ;;
  *) find ${shellQuote(worktreePath)} -xdev -user 0 -cnewer ${mark} -exec chown -h "$owner" {} + ;;
esac
rm -f ${mark}`;

/** Hooks in the sandbox run where the agent will. */
export const sandboxHookRunner = (sandbox: SandboxHandle, cwd: string): HookRunner<SandboxHook> => ({
  name: "sandbox.onSandboxReady",
  run: async ({ command, sudo = false }, { onLine, ...options }) => {
    const mark = `/tmp/.sanddune-${randomBytes(8).toString("hex")}`;
    const prepared = sudo ? `${rememberTime(mark)}\n${command}` : command;
    try {
      return await sandbox.exec(prepared, { cwd, sudo, onLine, onStderrLine: onLine, ...options });
    } finally {
      // However the hook ended: it may have been killed. If the sandbox is gone, so are its files.
      if (sudo) {
        const script = giveAway(mark, sandbox.worktreePath);
        await sandbox.exec(script, { sudo, timeoutMs: CHOWN_TIMEOUT_MS }).catch(() => {});
      }
    }
  },
});
