import { ImageInUseError, ImageNotFoundError } from "../errors/commandErrors.ts";
import { SandboxError } from "../errors.ts";
import { callEngine, engineClients } from "../sandboxes/containers/engine.ts";
import { namesTag } from "./imageNames.ts";
import { containersOf, listTags } from "./images.ts";

const TIMEOUT_MS = 120_000;

export interface RemoveImageOptions {
  readonly engine: "docker" | "podman";
  readonly imageName: string;
}

/**
 * Removes one tag, and with the last one of an image the image itself. Rejects with an `ImageNotFoundError`, with an
 * `ImageInUseError`, or with a `SandboxUnavailableError` where the engine cannot be used.
 */
export const removeImage = async ({ engine, imageName }: RemoveImageOptions): Promise<void> => {
  const client = engineClients[engine];
  const tags = await listTags(client);
  if (!tags.some((tag) => namesTag(imageName, tag))) {
    const ours = tags.filter((tag) => /^(localhost\/)?sanddune:/.test(tag));
    throw new ImageNotFoundError(engine, imageName, ours);
  }
  const removed = await callEngine(client, ["image", "rm", imageName], { timeoutMs: TIMEOUT_MS });
  if (removed.exitCode === 0) return;
  if (/in use|is using/i.test(removed.stderr)) {
    throw new ImageInUseError(engine, imageName, await containersOf(client, imageName));
  }
  throw new SandboxError(engine, `the image ${imageName} could not be removed`, removed.stderr);
};
