import { constants, copyFile, link, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AgentSessions } from "../agents/contract.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { continuesFile } from "./continues.ts";
import { matchesAny } from "./filePatterns.ts";
import { type HostSessionFile, hostDirectoryOf, stateOf } from "./hostSessions.ts";
import { recordMover } from "./recordMover.ts";
import { rewriteFile } from "./rewriteFile.ts";
import { isSessionId } from "./sessionId.ts";
import { takeFiles } from "./takeFiles.ts";

/** A repository, on the host and in the sandbox. */
export interface SessionPlaces {
  /** The top of the repository, on the host. It and the next are paths without symbolic links. */
  readonly hostRoot: string;
  /** Where the agent would work on the host. */
  readonly hostCwd: string;
  /** The top of the repository, in the sandbox. */
  readonly sandboxRoot: string;
  /** Where the agent works in the sandbox. */
  readonly sandboxCwd: string;
}

export interface CaptureOptions {
  readonly sessions: AgentSessions;
  readonly sessionId: string;
  readonly handle: SandboxHandle;
  readonly places: SessionPlaces;
  /** A directory of this run's for files on their way; it does not exist yet. */
  readonly workDirectory: string;
  /** Tells files of this run from all others. */
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Takes secrets out of a command's last words, which may have been cut off in the middle of one. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
}

/**
 * Brings sessions of an agent to the host. It replaces only what this run has put there, or has gone on with: whatever
 * a sandbox calls its session, it cannot reach the sessions of others.
 */
export class SessionCapture {
  /** Files on the host that are this run's to replace, as they were when it last saw them. */
  readonly #own = new Map<string, string>();

  /** What was brought into the sandbox of files of the host's, as copies. */
  readonly #brought = new Map<string, string>();

  /** The run goes on with a session of the host's; of each file there is a copy of what was brought into the sandbox. */
  goesOnWith(files: readonly HostSessionFile[], copies: readonly string[]): void {
    for (const [index, { path, state }] of files.entries()) {
      this.#own.set(path, state);
      this.#brought.set(path, copies[index] ?? "");
    }
  }

  async #put(from: string, to: string): Promise<void> {
    const before = stateOf(to);
    if (before === undefined) {
      // Unlike renaming, neither replaces what somebody else has put there meanwhile. Not all file systems have links.
      await link(from, to).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "EEXIST") throw error;
        return copyFile(from, to, constants.COPYFILE_EXCL);
      });
      await rm(from);
    } else if (before === this.#own.get(to)) await rename(from, to);
    else if (this.#own.has(to)) throw new Error(`${to} has been changed on the host meanwhile`);
    else throw new Error(`there is another session in ${to}`);
    this.#own.set(to, stateOf(to) ?? "");
  }

  /** Gives the path of the session's file on the host; rejects with an `Error` that says in a few words what is wrong. */
  async capture(options: CaptureOptions): Promise<string> {
    const { sessions, sessionId, places, workDirectory } = options;
    if (!isSessionId(sessionId)) throw new Error("what the agent calls its session is no session id");
    await mkdir(workDirectory, { recursive: true, mode: 0o700 });
    try {
      const taken = await takeFiles(options.handle, sessions, sessionId, {
        cwd: places.sandboxCwd,
        targetDirectory: workDirectory,
        signal: options.signal,
        redactCaptured: options.redactCaptured,
      });
      const [main] = taken.files;
      const isThere = main !== undefined && matchesAny(main.file, sessions.files(sessionId).slice(0, 1));
      if (!isThere) throw new Error(`the agent has no session ${sessionId}`);
      const targetOf = (file: string) =>
        join(hostDirectoryOf(sessions), sessions.place(file, places.hostCwd));
      const moves = [
        { from: places.sandboxRoot, to: places.hostRoot },
        { from: join(taken.directory, dirname(main.file)), to: dirname(targetOf(main.file)) },
      ];
      const rewrite = recordMover(sessions, moves, places.hostCwd);
      const targets = taken.files.map(({ file }) => targetOf(file));
      for (const [index, { file, path }] of taken.files.entries()) {
        const target = targets[index] ?? "";
        if (targets.indexOf(target) !== index) throw new Error(`there are two of ${file}`);
        const before = this.#brought.get(target);
        if (before !== undefined && !(await continuesFile(sessions, before, path, options.signal))) {
          throw new Error(
            `${file} is no longer what it was, with something added: the one on the host stays`,
          );
        }
      }
      // The one that stands for the session comes last: where it is, everything is.
      for (const [index, { path }] of [...taken.files.entries()].reverse()) {
        const target = targets[index] ?? "";
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        const draft = join(dirname(target), `.${basename(target)}.${options.runId}`);
        try {
          await rewriteFile(path, draft, { rewrite, signal: options.signal });
          await this.#put(draft, target);
        } finally {
          await rm(draft, { force: true });
        }
      }
      return targetOf(main.file);
    } finally {
      await rm(workDirectory, { recursive: true, force: true });
    }
  }
}
