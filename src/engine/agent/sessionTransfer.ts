import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import { SessionCapture } from "../../agentSessions/captureSession.ts";
import { copySessionIn } from "../../agentSessions/copySessionIn.ts";
import { physicalPath } from "../../agentSessions/hostSessions.ts";
import type { SessionPaths } from "../../agentSessions/sessionPaths.ts";
import type { AgentProvider, ResumedSession } from "../../agents/contract.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { shortenTo } from "../../display/columns.ts";
import { SandboxError, SandduneError } from "../../errors.ts";
import { removeDirectory } from "../../process/removeDirectory.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import { messageOf } from "../../tools/messageOf.ts";
import { oneLine } from "../../tools/shorten.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import type { SandboxWork } from "../landing/importWork.ts";
import type { ResumePlan } from "../plan/plan.ts";

const MAX_PROBLEM_WIDTH = 500;
const COPY_IN_TIMEOUT_MS = 120_000;
/** Enough for large sessions. After an abort, the caller is waiting. */
const CAPTURE_TIMEOUT_MS = { afterSuccess: 30_000, afterFailure: 15_000 } as const;

/** Copies an agent's session between the host and the sandbox. */
export class AgentSessionTransfer {
  readonly #capture = new SessionCapture();
  #count = 0;
  /** The directory with copies of the files that were copied into the sandbox. */
  #copied: string | undefined;

  /** Resolved before the agent starts, because it could replace a directory by a link. */
  readonly #places: SessionPaths;

  constructor(
    private readonly work: SandboxWork,
    private readonly agent: AgentProvider,
  ) {
    const { repository } = work.sandbox.checkout;
    const { handle } = work.sandbox.repository;
    this.#places = {
      hostRoot: physicalPath(repository.topLevel),
      hostCwd: physicalPath(join(repository.topLevel, repository.prefix)),
      sandboxRoot: handle.worktreePath,
      sandboxCwd: sandboxDirectory(repository, handle),
    };
  }

  get #handle() {
    return withEnv(this.work.session.plan.env, this.work.sandbox.repository.handle);
  }

  readonly #redactCaptured = (text: string, captureBytes: number): string =>
    this.work.session.redactor.capturedEnd(text, captureBytes);

  #workDirectory(): string {
    return join(this.work.session.journal.filesDirectory, `agent-session-${this.#count++}`);
  }

  /** Copies the session to resume into the sandbox. */
  copyIn({ sessionId, isFork, files }: ResumePlan): Effect.Effect<ResumedSession, SandduneError> {
    const { sessions } = this.agent;
    if (sessions === undefined) return Effect.die("the agent has no sessions");
    const workDirectory = this.#workDirectory();
    const copyId = isFork && sessions.forksByCopy === true ? randomUUID() : undefined;
    return interruptible(
      async (signal) => {
        const { used, files: copies } = await withTimeLimit(COPY_IN_TIMEOUT_MS, signal, (limit) =>
          copySessionIn({
            sessions,
            sessionId,
            ...(copyId !== undefined && { copyId }),
            files,
            handle: this.#handle,
            places: this.#places,
            workDirectory,
            signal: limit,
            redactCaptured: this.#redactCaptured,
          }),
        );
        if (isFork) await removeDirectory(workDirectory);
        else this.#capture.resumes(copies);
        this.#copied = workDirectory;
        return {
          sessionId: copyId ?? sessionId,
          isFork: isFork && copyId === undefined,
          ...(used && { usedBefore: used }),
        };
      },
      (reason) =>
        reason instanceof SandduneError
          ? reason
          : new SandboxError(
              this.#handle.name,
              `the agent's session could not be copied into it: ${(reason as Error).message}`,
            ),
    );
  }

  /** Succeeds with the path on the host. A failure is only a warning: the work does not depend on it. */
  capture(sessionId: string | undefined, failed: boolean): Effect.Effect<string | undefined> {
    const { sessions, captureSessions = true } = this.agent;
    if (sessionId === undefined || sessions === undefined || !captureSessions)
      return Effect.succeed(undefined);
    const { session } = this.work;
    // The session of an aborted run is captured too.
    const stops = session.plan.signal?.aborted ? undefined : session.plan.signal;
    const timeoutMs = failed ? CAPTURE_TIMEOUT_MS.afterFailure : CAPTURE_TIMEOUT_MS.afterSuccess;
    return Effect.promise(async () => {
      try {
        return await withTimeLimit(timeoutMs, stops, (signal) =>
          this.#capture.capture({
            sessions,
            sessionId,
            handle: this.#handle,
            places: this.#places,
            workDirectory: this.#workDirectory(),
            runId: session.plan.runId,
            signal,
            redactCaptured: this.#redactCaptured,
          }),
        );
      } catch (reason) {
        const problem = messageOf(reason);
        // The problem may contain a name from the sandbox. It is redacted before it is cut, so that no part of a
        // secret remains.
        const words = shortenTo(oneLine(session.redactor.text(problem)), MAX_PROBLEM_WIDTH);
        session.progress.warn(`The agent's session was not captured: ${words}`);
        return undefined;
      } finally {
        // The copy contains the user's whole conversation.
        if (this.#copied !== undefined) await removeDirectory(this.#copied);
      }
    });
  }
}
