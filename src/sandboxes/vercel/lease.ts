import type { Sandbox } from "@vercel/sandbox";
import { SandboxLostError } from "../../errors.ts";
import { inTime, type Patience } from "../../tools/wait/timeLimit.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import { BEAT_TIMEOUT_MS, type CloudLease, cloudLease } from "../services/lease.ts";
import { findVercelSandbox, type VercelClient } from "./client.ts";
import { VERCEL } from "./error.ts";

/** The smallest extension. */
const SHORTEST_MS = 1000;

interface State {
  /** Why its session ended, if it did. */
  readonly end?: string;
  /** How long its session may last altogether. */
  readonly timeoutMs: number;
}

/** The state of a session. Rejects if Vercel does not answer. */
export const findVercelState = async (
  client: VercelClient,
  name: string,
  sessionId: string,
  patience: Patience,
): Promise<State> => {
  const found = await findVercelSandbox(client, name, patience);
  if (found === undefined) return { end: "Vercel no longer knows it: it was deleted", timeoutMs: 0 };
  const session = found.currentSession();
  const isCurrent = session.sessionId === sessionId;
  if (isCurrent && found.status === "running") return { timeoutMs: session.timeout };
  const what = isCurrent ? found.status : "there is another one";
  return {
    end: `its session has ended (${what}): it was stopped, or has reached its deadline`,
    timeoutMs: 0,
  };
};

/** Extends the life of a sandbox. Vercel adds the requested time to the current one. */
export const vercelLease = (client: VercelClient, sandbox: Sandbox, lease: CloudLease): Heartbeat => {
  const session = sandbox.currentSession();
  let { timeout: timeoutMs } = session;

  const extend = async (moreMs: number, signal: AbortSignal): Promise<boolean> => {
    if (moreMs <= 0) return false;
    try {
      await inTime((given) => session.extendTimeout(Math.max(moreMs, SHORTEST_MS), { signal: given }), {
        timeoutMs: BEAT_TIMEOUT_MS,
        signal,
      });
      timeoutMs = session.timeout;
      return true;
    } catch {
      return false;
    }
  };
  return cloudLease(lease, async (wantedMs, signal) => {
    if (!(await extend(wantedMs - lease.madeAtMs - timeoutMs, signal))) {
      const state = await findVercelState(client, sandbox.name, session.sessionId, {
        timeoutMs: BEAT_TIMEOUT_MS,
        signal,
      });
      if (state.end !== undefined) throw new SandboxLostError(VERCEL, state.end, `Sandbox ${sandbox.name}`);
      // The extension may have succeeded although its answer was lost.
      timeoutMs = state.timeoutMs;
    }
    return timeoutMs;
  });
};
