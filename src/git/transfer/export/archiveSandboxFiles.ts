import * as Effect from "effect/Effect";
import { interruptible } from "../../../boundary/interruptible.ts";
import { shellQuote } from "../../../tools/shellQuote.ts";
import type { SandboxRepository } from "../sandboxRepository.ts";

const TIMEOUT_MS = 60_000;
const ARCHIVE = "sanddune-rescue.tar";

/**
 * The last resort for a sandbox whose files exist nowhere else: copies all of them, including `.git`, to the host as an
 * archive. Resolves with whether that worked: the caller reports the error that made it necessary.
 */
export const archiveSandboxFiles = (sandbox: SandboxRepository, hostPath: string): Effect.Effect<boolean> => {
  const { handle } = sandbox;
  const archive = `${handle.worktreePath}.${ARCHIVE}`;
  return interruptible(
    async (signal) => {
      const command = `tar -cf ${shellQuote(archive)} -C ${shellQuote(handle.worktreePath)} .`;
      // The exit code is ignored: tar archives all files that it can read.
      await handle.exec(command, { cwd: "/", timeoutMs: TIMEOUT_MS, signal });
      await handle.copyFileOut(archive, hostPath);
      return true;
    },
    (reason) => reason,
  ).pipe(Effect.catch(() => Effect.succeed(false)));
};
