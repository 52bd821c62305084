import type { Sandbox } from "modal";
import { inTime } from "../../tools/wait/timeLimit.ts";
import { inWords } from "../exec/deadlineWarning.ts";
import type { Diagnosis } from "../exec/sandboxAccess.ts";
import { isNotFound } from "./client.ts";

export const LIVE_LONGER = "Give it longer: modal({ lifetimeMs: … }), at most 24 hours";

/** The SDK's exit codes for sandboxes that did not end by themselves. */
const TIMED_OUT = 124;
const TERMINATED = 137;

const ANSWER_TIMEOUT_MS = 5000;

/** Why a sandbox ended; `undefined` if it has not. Rejects if Modal does not answer. */
export const modalEnd = async (
  sandbox: Sandbox,
  lifetimeMs: number,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<string | undefined> => {
  const exitCode = await inTime(() => sandbox.poll(), { timeoutMs, signal }).catch((error: unknown) => {
    if (isNotFound(error)) return TERMINATED;
    throw error;
  });
  switch (exitCode) {
    case null:
      return undefined;
    case TIMED_OUT:
      return `its lifetime of ${inWords(lifetimeMs)} was over. ${LIVE_LONGER}`;
    case TERMINATED:
      return "it was terminated";
    default:
      return `its own process ended with exit code ${exitCode}`;
  }
};

/** Finds out why commands no longer run. */
export const diagnoseModal = async (sandbox: Sandbox, lifetimeMs: number): Promise<Diagnosis> => {
  const details = `Its id: ${sandbox.sandboxId}`;
  try {
    const end = await modalEnd(sandbox, lifetimeMs, { timeoutMs: ANSWER_TIMEOUT_MS });
    return { problem: end ?? "Modal says that it exists, but it no longer runs commands", details };
  } catch (error) {
    return { problem: "Modal no longer answers", details: `${details}\n${String(error)}` };
  }
};
