import * as Effect from "effect/Effect";
import { changedSessions, type FoundSession, findSessions } from "../../agentSessions/findSessions.ts";
import type { AgentProvider } from "../../agents/contract.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { sandboxDirectory, withEnv } from "../../sandboxes/handle/handleWithEnv.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import { AgentSessionTransfer } from "../agent/sessionTransfer.ts";
import type { SandboxWork } from "../landing/importWork.ts";

const LIST_TIMEOUT_MS = 10_000;
/** A person may start or resume any number of sessions. */
const MAX_SESSIONS = 5;

/** Copies the agent's sessions to the host, so that the resume command that the agent prints works there. */
export interface InteractiveSessionCapture {
  /** Lists the sessions that exist before the agent starts. */
  readonly begin: Effect.Effect<void>;
  /** Copies new and changed sessions to the host. A failure is a warning. */
  capture(failed: boolean): Effect.Effect<void>;
}

/** For agents with a database: there are no files to find, and asking the agent for them takes seconds. */
const sayingThatItStays = ({ session }: SandboxWork, { name }: AgentProvider): InteractiveSessionCapture => ({
  begin: Effect.void,
  capture: () =>
    Effect.sync(() =>
      session.display.note(
        `The session of ${name} stays in its sandbox: the resume command that it prints does not work on this machine.`,
      ),
    ),
});

export const captureInteractive = (work: SandboxWork, agent: AgentProvider): InteractiveSessionCapture => {
  const { sessions, captureSessions = true } = agent;
  if (sessions === undefined || !captureSessions) return { begin: Effect.void, capture: () => Effect.void };
  if (sessions.exportCommand !== undefined) return sayingThatItStays(work, agent);
  const { session, sandbox } = work;
  const handle = withEnv(session.plan.env, sandbox.repository.handle);
  const cwd = sandboxDirectory(sandbox.checkout.repository, handle);
  const transfer = new AgentSessionTransfer(work, agent);
  const list: Effect.Effect<FoundSession[]> = interruptible(
    (aborted) =>
      withTimeLimit(LIST_TIMEOUT_MS, aborted, (signal) => findSessions(handle, sessions, { cwd, signal })),
    () => undefined,
  ).pipe(Effect.catch(() => Effect.succeed([])));
  let before: readonly FoundSession[] = [];
  return {
    begin: Effect.map(list, (found) => {
      before = found;
    }),
    capture: Effect.fnUntraced(function* (failed) {
      const changed = changedSessions(before, yield* list).slice(0, MAX_SESSIONS);
      for (const { sessionId } of changed) {
        const sessionFilePath = yield* transfer.capture(sessionId, failed);
        if (sessionFilePath !== undefined) session.progress.agentSession ??= { sessionId, sessionFilePath };
      }
    }),
  };
};
