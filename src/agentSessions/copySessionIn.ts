import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, extname, join, posix } from "node:path";
import type { AgentSessions } from "../agents/contract.ts";
import { SandboxError } from "../errors.ts";
import type { IterationUsage } from "../options/results.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { shellQuote } from "../tools/shellQuote.ts";
import { directoryWords } from "./copyFilesOut.ts";
import type { HostSessionFile } from "./hostSessions.ts";
import { LAST_WORDS_BYTES, MAX_RECORD_LENGTH } from "./limits.ts";
import { rewriteFile } from "./rewriteFile.ts";
import { recordOf, recordRewriter } from "./rewriteRecord.ts";
import type { SessionPaths } from "./sessionPaths.ts";

export interface CopySessionOptions {
  readonly sessions: AgentSessions;
  readonly sessionId: string;
  /** The new id, if a copy of the session is made. */
  readonly copyId?: string;
  readonly files: readonly HostSessionFile[];
  readonly handle: SandboxHandle;
  readonly places: SessionPaths;
  /** A directory of this run for the copied files. It does not exist yet, and is kept. */
  readonly workDirectory: string;
  readonly signal: AbortSignal;
  /** Redacts the end of a command's output. A secret at the start of it may be incomplete. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
}

/** A session file on the host, with a copy of what was written to the sandbox. */
export interface SessionCopy extends HostSessionFile {
  readonly copy: string;
}

/** A session that was copied into a sandbox. */
export interface CopiedSession {
  /** The tokens that it used so far, if known. */
  readonly used: IterationUsage | undefined;
  readonly files: readonly SessionCopy[];
}

/** Copies a session into the sandbox, to where the agent looks for it. */
export const copySessionIn = async (options: CopySessionOptions): Promise<CopiedSession> => {
  const { sessions, sessionId, copyId = sessionId, handle, places, workDirectory, signal } = options;
  const isCopy = copyId !== sessionId;
  const named = (text: string): string =>
    isCopy && text.length <= MAX_RECORD_LENGTH ? text.replaceAll(sessionId, copyId) : text;
  const run = async (command: string, stdin?: AsyncIterable<Uint8Array>): Promise<string> => {
    const result = await handle.exec(command, {
      cwd: places.sandboxCwd,
      signal,
      ...(stdin && { stdin }),
      captureBytes: LAST_WORDS_BYTES,
    });
    if (result.exitCode === 0) return result.stdout;
    const lastWords = options.redactCaptured(result.stderr, LAST_WORDS_BYTES);
    throw new SandboxError(handle.name, "the agent's session could not be copied into it", lastWords);
  };
  await mkdir(workDirectory, { recursive: true, mode: 0o700 });
  try {
    const directory = directoryWords(sessions);
    const [sandboxCwd = "", sandboxDirectory = ""] = (
      await run(`pwd -P && umask 077 && mkdir -p -- ${directory} && cd -- ${directory} && pwd -P`)
    ).split("\n");
    const [main] = options.files;
    const moves = [{ from: places.hostRoot, to: places.sandboxRoot }];
    if (main !== undefined) {
      const target = posix.join(sandboxDirectory, sessions.place(main.file, sandboxCwd));
      moves.push({ from: dirname(main.path), to: posix.dirname(target) });
    }
    const move = recordRewriter(sessions, moves, sandboxCwd);
    let used: IterationUsage | undefined;
    const copies: SessionCopy[] = [];
    const onRecord = (json: string) => {
      if (sessions.usedInAll !== undefined) used = sessions.usedInAll(recordOf(json)) ?? used;
    };
    for (const [index, hostFile] of options.files.entries()) {
      const copy = join(workDirectory, `${index}${extname(hostFile.file)}`);
      await rewriteFile(hostFile.path, copy, {
        rewrite: (json) => {
          if (index === 0) onRecord(json);
          return named(move(json));
        },
        signal,
      });
      copies.push({ ...hostFile, copy });
      const target = posix.join(sandboxDirectory, named(sessions.place(hostFile.file, sandboxCwd)));
      await run(
        `umask 077 && mkdir -p -- ${shellQuote(posix.dirname(target))} && cat >${shellQuote(target)}`,
        createReadStream(copy),
      );
    }
    const importCommand = sessions.importCommand?.(copyId);
    if (importCommand !== undefined) await run(`${importCommand} </dev/null`);
    return { used, files: copies };
  } catch (reason) {
    await rm(workDirectory, { recursive: true, force: true });
    throw reason;
  }
};
