import type { Sandbox } from "e2b";
import { SandboxLostError } from "../../errors.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import { BEAT_TIMEOUT_MS, type CloudLease, cloudLease } from "../services/lease.ts";
import { callE2b } from "./callE2b.ts";
import { E2B, isNotFound } from "./client.ts";

/** E2B counts in seconds. */
const SHORTEST_MS = 1000;

export const ENDED = "E2B no longer knows it: it was ended, or has reached its deadline";

/** Extends the life of a sandbox. E2B may grant less than requested, as the plan allows, and says so only when asked. */
export const e2bLease = (sandbox: Sandbox, lease: CloudLease): Heartbeat =>
  cloudLease(lease, async (wantedMs, signal) => {
    const patience = { timeoutMs: BEAT_TIMEOUT_MS, signal };
    const moreMs = Math.max(wantedMs - Date.now(), SHORTEST_MS);
    const isRenewed = await callE2b((call) => sandbox.setTimeout(moreMs, call), patience).then(
      () => true,
      () => false,
    );
    const info = await callE2b((call) => sandbox.getInfo(call), patience).catch((error: unknown) => {
      if (isNotFound(error)) throw new SandboxLostError(E2B, ENDED, `Sandbox ${sandbox.sandboxId}`);
      if (!isRenewed) throw error;
      return undefined;
    });
    // E2B's clock may differ: only the duration is taken from it.
    return info && info.endAt.getTime() - info.startedAt.getTime();
  });
