import { constants, copyFile, link, mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AgentSessions } from "../agents/contract.ts";
import { isSessionId } from "../options/checks/sessionId.ts";
import type { SandboxHandle } from "../sandboxes/contract.ts";
import { globMatcher } from "../tools/globs.ts";
import { continuesFile } from "./continuesFile.ts";
import { type TakenFile, takeFiles } from "./copyFilesOut.ts";
import type { SessionCopy } from "./copySessionIn.ts";
import { hostDirectoryOf, stateOf } from "./hostSessions.ts";
import { type Rewriting, rewriteFile } from "./rewriteFile.ts";
import { recordRewriter } from "./rewriteRecord.ts";
import type { SessionPaths } from "./sessionPaths.ts";

export interface CaptureOptions {
  readonly sessions: AgentSessions;
  readonly sessionId: string;
  readonly handle: SandboxHandle;
  readonly places: SessionPaths;
  /** A directory of this run for temporary files. It does not exist yet. */
  readonly workDirectory: string;
  /** Distinguishes files of this run from all others. */
  readonly runId: string;
  readonly signal: AbortSignal;
  /** Redacts the end of a command's output. A secret at the start of it may be incomplete. */
  readonly redactCaptured: (text: string, captureBytes: number) => string;
}

/** A file that was copied out of the sandbox, and its path on the host. */
interface PlacedFile extends TakenFile {
  readonly target: string;
}

/**
 * Copies an agent's sessions to the host. Replaces only files that this run wrote or resumed, so that a sandbox
 * cannot overwrite other sessions by claiming their id.
 */
export class SessionCapture {
  /** The files on the host that this run may replace, and their last known state. */
  readonly #own = new Map<string, string>();

  /** Copies of the host's files that were copied into the sandbox. */
  readonly #copied = new Map<string, string>();

  /** Allows this run to replace the files of a session that it resumes. */
  resumes(files: readonly SessionCopy[]): void {
    for (const { path, state, copy } of files) {
      this.#own.set(path, state);
      this.#copied.set(path, copy);
    }
  }

  async #put(from: string, to: string): Promise<void> {
    const before = stateOf(to);
    if (before === undefined) {
      // Unlike renaming, neither replaces a file that another process created meanwhile. Not all file systems have
      // links.
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

  /** Refuses a file that would replace an unrelated one. */
  async #check(files: readonly PlacedFile[], { sessions, signal }: CaptureOptions): Promise<void> {
    const targets = new Set<string>();
    for (const { file, path, target } of files) {
      if (targets.has(target)) throw new Error(`there are two of ${file}`);
      targets.add(target);
      const before = this.#copied.get(target);
      if (before === undefined || (await continuesFile(sessions, before, path, signal))) continue;
      throw new Error(`${file} does not continue the file on the host, which stays unchanged`);
    }
  }

  async #place({ path, target }: PlacedFile, { runId }: CaptureOptions, rewriting: Rewriting): Promise<void> {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const draft = join(dirname(target), `.${basename(target)}.${runId}`);
    try {
      await rewriteFile(path, draft, rewriting);
      await this.#put(draft, target);
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** Resolves with the path of the session's file on the host. Rejects with a short `Error`. */
  async capture(options: CaptureOptions): Promise<string> {
    const { sessions, sessionId, places, workDirectory, signal } = options;
    if (!isSessionId(sessionId)) throw new Error("the agent reported an invalid session id");
    await mkdir(workDirectory, { recursive: true, mode: 0o700 });
    try {
      const taken = await takeFiles(options.handle, sessions, sessionId, {
        cwd: places.sandboxCwd,
        targetDirectory: workDirectory,
        signal,
        redactCaptured: options.redactCaptured,
      });
      const files = taken.files.map((each) => ({
        ...each,
        target: join(hostDirectoryOf(sessions), sessions.place(each.file, places.hostCwd)),
      }));
      const [main] = files;
      const isThere = main !== undefined && globMatcher(sessions.files(sessionId).slice(0, 1))(main.file);
      if (!isThere) throw new Error(`the agent has no session ${sessionId}`);
      await this.#check(files, options);
      const moves = [
        { from: places.sandboxRoot, to: places.hostRoot },
        { from: join(taken.directory, dirname(main.file)), to: dirname(main.target) },
      ];
      const rewriting = { rewrite: recordRewriter(sessions, moves, places.hostCwd), signal };
      // The main file comes last: if it exists, the session is complete.
      for (const file of files.reverse()) await this.#place(file, options, rewriting);
      return main.target;
    } finally {
      await rm(workDirectory, { recursive: true, force: true });
    }
  }
}
