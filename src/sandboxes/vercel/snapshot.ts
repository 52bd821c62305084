import type { Sandbox } from "@vercel/sandbox";
import { SandboxLostError } from "../../errors.ts";
import { inTime, type Patience } from "../../tools/wait/timeLimit.ts";
import type { SandboxSnapshot, SnapshotOptions } from "../contract.ts";
import { readState } from "../services/snapshotState.ts";
import { untilAccepted } from "../services/untilAccepted.ts";
import type { VercelClient } from "./client.ts";
import { discreet, statusOf, VERCEL, vercelError, vercelTransience } from "./error.ts";

const LIMIT = { timeoutMs: 300_000 };

/** Vercel deletes the snapshot then, if this process dies before it can. */
const EXPIRATION_MS = 24 * 60 * 60_000;

const deleteSnapshot = async (
  { sdk, credentials }: VercelClient,
  snapshotId: string,
  patience: Patience,
): Promise<void> => {
  try {
    await inTime(async (signal) => {
      const snapshot = await sdk.Snapshot.get({ ...credentials, snapshotId, signal });
      if (snapshot.status !== "deleted") await snapshot.delete({ signal });
    }, patience);
  } catch (error) {
    if (statusOf(error) !== 404) throw vercelError(`the snapshot ${snapshotId} could not be deleted`, error);
  }
};

/** Repeats a request that may be sent twice, also if its answer was lost. */
const persistently = <A>(ask: (signal: AbortSignal) => Promise<A>): Promise<A> =>
  untilAccepted((timeoutMs) => inTime(ask, { timeoutMs }), {
    ...LIMIT,
    transienceOf: (error) => (statusOf(error) === undefined ? {} : vercelTransience(error)),
  });

/** The snapshot that was made of a session although the answer was lost. */
const findSnapshotOf = async (
  { sdk, credentials }: VercelClient,
  name: string,
  sessionId: string,
): Promise<string | undefined> => {
  const { snapshots } = await persistently((signal) =>
    sdk.Snapshot.list({ ...credentials, name, sortOrder: "desc", signal }),
  );
  return snapshots.find(
    ({ sourceSessionId, status }) => sourceSessionId === sessionId && status === "created",
  )?.id;
};

/** Has Vercel keep the files of a session, which ends. Resolves with the id of the snapshot. */
const snapshotSession = async (client: VercelClient, sandbox: Sandbox): Promise<string> => {
  const session = sandbox.currentSession();
  try {
    const take = (signal: AbortSignal) => session.snapshot({ expiration: EXPIRATION_MS, signal });
    return (await inTime(take, LIMIT)).snapshotId;
  } catch (error) {
    const id = await findSnapshotOf(client, sandbox.name, session.sessionId).catch(() => undefined);
    if (id === undefined) throw error;
    return id;
  }
};

/**
 * Has a sandbox continue from a snapshot, in another session. Vercel restores the files of persistent sandboxes only, so it is
 * one meanwhile.
 */
const continueFrom = async (
  { sdk, credentials }: VercelClient,
  sandbox: Sandbox,
  id: string,
): Promise<Sandbox> => {
  await persistently((signal) => sandbox.update({ persistent: true, currentSnapshotId: id }, { signal }));
  const again = await persistently((signal) =>
    sdk.Sandbox.get({ ...credentials, name: sandbox.name, resume: true, signal }),
  );
  if (again.currentSession().sourceSnapshotId !== id)
    throw new Error("its new session did not start from the snapshot");
  // If that fails, Vercel keeps its files after its end, until the sandbox is deleted.
  await persistently((signal) => again.update({ persistent: false }, { signal })).catch(() => {});
  return again;
};

/**
 * Has Vercel keep the files of a sandbox. That ends its session, so another one continues from the snapshot. If it does not, the
 * snapshot stays until it expires: it has the only copy of the files.
 */
export const keepVercelSnapshot = async (
  client: VercelClient,
  sandbox: Sandbox,
  { signal }: SnapshotOptions,
  onContinued: (sandbox: Sandbox) => void,
): Promise<string> => {
  signal?.throwIfAborted();
  // Without the signal: a session that has ended must continue.
  const id = await snapshotSession(client, sandbox).catch((error: unknown) => {
    throw vercelError("its state could not be kept", error);
  });
  const continued = await continueFrom(client, sandbox, id).catch((error: unknown) => {
    throw new SandboxLostError(
      VERCEL,
      `Vercel has kept its state, but it did not continue (${discreet((error as Error).message)})`,
      `The snapshot ${id} has its files, and expires in a day. Start a sandbox from it: npx sandbox create --snapshot ${id}`,
    );
  });
  onContinued(continued);
  if (signal?.aborted) {
    await deleteSnapshot(client, id, LIMIT).catch(() => {});
    throw signal.reason;
  }
  return id;
};

/** Deletes a snapshot; a missing one counts as deleted. */
export const removeVercelSnapshot = (
  client: VercelClient,
  snapshot: SandboxSnapshot,
  patience: Patience,
): Promise<void> => deleteSnapshot(client, readState(VERCEL, snapshot).id, patience);
