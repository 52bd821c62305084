import type { SnapshotOptions } from "../contract.ts";
import { callE2b } from "./callE2b.ts";
import { type E2bPatience, type E2bSdk, e2bError, isNotFound } from "./client.ts";

/** E2B copies the memory, too. */
const SNAPSHOT_TIMEOUT_MS = 300_000;
const MAX_PAGES = 100;

/** The ids of the snapshots of a name. */
export const findE2bSnapshots = async (
  { Sandbox }: E2bSdk,
  name: string,
  patience: E2bPatience,
): Promise<readonly string[]> => {
  const found: string[] = [];
  const pages = Sandbox.listSnapshots({ name });
  // A name may be listed with the project's before it, and with a tag after it.
  const isMeant = (listed: string) => listed.split("/").at(-1)?.split(":")[0] === name;
  for (let count = 0; pages.hasNext && count < MAX_PAGES; count++) {
    const page = await callE2b((call) => pages.nextItems(call), patience);
    found.push(
      ...page
        .filter(({ snapshotId, names }) => [snapshotId, ...names].some(isMeant))
        .map(({ snapshotId }) => snapshotId),
    );
  }
  return found;
};

/** Deletes the snapshots of a name; missing ones count as deleted. */
export const removeE2bSnapshots = async (sdk: E2bSdk, name: string, patience: E2bPatience): Promise<void> => {
  try {
    for (const id of await findE2bSnapshots(sdk, name, patience)) {
      await callE2b((call) => sdk.Sandbox.deleteSnapshot(id, call), patience);
    }
  } catch (error) {
    if (!isNotFound(error)) throw e2bError(`the snapshot ${name} could not be deleted`, error);
  }
};

/** Has E2B keep the state of a sandbox, which it pauses meanwhile. Resolves with the id of the snapshot. */
export const keepE2bSnapshot = async (
  sdk: E2bSdk,
  sandboxId: string,
  { name, signal }: SnapshotOptions,
  timeoutMs: number,
): Promise<string> => {
  signal?.throwIfAborted();
  try {
    // Without the signal: E2B would complete a snapshot whose request is cut off, and it could not be deleted yet.
    const { snapshotId } = await callE2b((call) => sdk.Sandbox.createSnapshot(sandboxId, { ...call, name }), {
      timeoutMs: SNAPSHOT_TIMEOUT_MS,
    });
    signal?.throwIfAborted();
    return snapshotId;
  } catch (error) {
    // The caller checks whether a snapshot is left.
    await removeE2bSnapshots(sdk, name, { timeoutMs }).catch(() => {});
    signal?.throwIfAborted();
    throw e2bError("its state could not be kept", error);
  }
};
