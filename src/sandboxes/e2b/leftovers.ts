import { SandboxError } from "../../errors.ts";
import type { LeftSandbox, LeftSnapshot, SandboxLeftovers } from "../leftovers.ts";
import { lookInAccount, readCloudPlace } from "../services/account.ts";
import { REQUEST_TIMEOUT_MS } from "../services/serviceLimits.ts";
import {
  E2B,
  type E2bSdk,
  e2bAccount,
  e2bError,
  endE2bSandbox,
  findE2bSandboxes,
  loadE2b,
} from "./client.ts";
import { e2bMetadata } from "./sandbox.ts";
import { findE2bSnapshots, removeE2bSnapshots } from "./snapshot.ts";

const elsewhere = (): SandboxError =>
  new SandboxError(
    E2B,
    "it was made with another E2B account; set the E2B_API_KEY of that one, and E2B_DOMAIN and E2B_API_URL as they were then",
  );

const findIds = async (
  sdk: E2bSdk,
  sandbox: LeftSandbox,
  signal?: AbortSignal,
): Promise<readonly string[]> => {
  const patience = { timeoutMs: REQUEST_TIMEOUT_MS, signal };
  const look = async () => {
    const metadata = e2bMetadata(sandbox.runId, sandbox.sandboxName);
    const ids = await findE2bSandboxes(sdk, metadata, patience).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw e2bError("its sandboxes could not be listed", error);
    });
    return ids.length === 0 ? undefined : ids;
  };
  const place = readCloudPlace(E2B, sandbox, ["key", "host"]);
  return (await lookInAccount(place, e2bAccount(), look, elsewhere)) ?? [];
};

/** Snapshots have no end, so neither has the doubt about those of another account. */
const findSnapshotIds = async (
  sdk: E2bSdk,
  snapshot: LeftSnapshot,
  signal?: AbortSignal,
): Promise<readonly string[]> => {
  const look = async () => {
    const patience = { timeoutMs: REQUEST_TIMEOUT_MS, signal };
    const ids = await findE2bSnapshots(sdk, snapshot.name, patience).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw e2bError("its snapshots could not be listed", error);
    });
    return ids.length === 0 ? undefined : ids;
  };
  const place = readCloudPlace(E2B, snapshot, ["key", "host"]);
  const lasting = place && { ...place, endsByMs: Number.POSITIVE_INFINITY };
  return (await lookInAccount(lasting, e2bAccount(), look, elsewhere)) ?? [];
};

/** Sandboxes of dead runs at E2B. They end at their deadline; snapshots do not. */
export const e2bLeftovers: SandboxLeftovers = {
  holdsWork: true,
  find: async (sandbox, signal) => {
    const ids = await findIds(await loadE2b(), sandbox, signal);
    return ids.length === 0 ? undefined : `${E2B} sandbox ${ids.join(", ")}`;
  },
  remove: async (sandbox) => {
    const sdk = await loadE2b();
    for (const id of await findIds(sdk, sandbox)) {
      await endE2bSandbox(sdk, id, { timeoutMs: REQUEST_TIMEOUT_MS });
    }
  },
  findSnapshot: async (snapshot, signal) => {
    const ids = await findSnapshotIds(await loadE2b(), snapshot, signal);
    return ids.length === 0 ? undefined : `${E2B} snapshot ${ids.join(", ")}`;
  },
  removeSnapshot: async ({ name }) =>
    removeE2bSnapshots(await loadE2b(), name, { timeoutMs: REQUEST_TIMEOUT_MS }),
};
