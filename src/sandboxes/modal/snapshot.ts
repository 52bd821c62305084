import type { Image, ModalClient, Sandbox } from "modal";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { SandboxSnapshot, SnapshotOptions } from "../contract.ts";
import { readState } from "../services/snapshotState.ts";
import { askModal, isNotFound, MODAL, modalError } from "./client.ts";

const SNAPSHOT_TIMEOUT_MS = 300_000;

/** Modal deletes the image then, if this process dies before it can. */
const TTL_MS = 24 * 60 * 60_000;

const deleteImage = async ({ images }: ModalClient, id: string, timeoutMs: number): Promise<void> => {
  try {
    await inTime(() => images.delete(id), { timeoutMs });
  } catch (error) {
    if (!isNotFound(error)) throw modalError(`the image ${id} could not be deleted`, error);
  }
};

/** Has Modal keep the files of a sandbox as an image, with an end. Resolves with the id of the image. */
export const keepModalImage = async (
  sandbox: Sandbox,
  client: ModalClient,
  { signal }: SnapshotOptions,
): Promise<string> => {
  let image: Image;
  try {
    // Without the signal: an image that arrives too late could not be deleted.
    image = await inTime(
      () => sandbox.snapshotFilesystem({ timeoutMs: SNAPSHOT_TIMEOUT_MS, ttlMs: TTL_MS }),
      {
        timeoutMs: SNAPSHOT_TIMEOUT_MS,
      },
    );
  } catch (error) {
    signal?.throwIfAborted();
    throw modalError("its state could not be kept", error);
  }
  if (signal?.aborted) {
    await deleteImage(client, image.imageId, SNAPSHOT_TIMEOUT_MS).catch(() => {});
    throw signal.reason;
  }
  return image.imageId;
};

/** Deletes the image of a snapshot; a missing one counts as deleted. */
export const removeModalSnapshot = (snapshot: SandboxSnapshot, timeoutMs: number): Promise<void> =>
  askModal((client) => deleteImage(client, readState(MODAL, snapshot).id, timeoutMs));
