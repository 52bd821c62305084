import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type OverlayMount, openOverlayMount } from "../../process/overlay/overlayMount.ts";
import type { SandboxMount } from "../contract.ts";

/** The mounts of a sandbox when its overlay is mounted: to bwrap it is a directory like any other. */
export interface OpenedMounts {
  readonly mounts: readonly SandboxMount[];
  /** `undefined` if no mount has an overlay. */
  readonly overlay: OverlayMount | undefined;
}

/**
 * Mounts the overlay of a sandbox once, in a namespace that every command of the sandbox enters. bwrap could mount it for each
 * command, but two mounts of the same upper directory at a time have no defined result.
 */
export const openOverlays = async (
  mounts: readonly SandboxMount[],
  directory: string,
): Promise<OpenedMounts> => {
  const found = mounts.find((mount) => mount.overlay !== undefined);
  if (found?.overlay === undefined) return { mounts, overlay: undefined };
  const mountPath = join(directory, "overlay");
  await mkdir(mountPath);
  const layers = { lowerPath: found.hostPath, ...found.overlay };
  const overlay = await openOverlayMount(layers, mountPath, { isWritable: true });
  const { overlay: _, ...plain } = found;
  return {
    mounts: mounts.map((mount) => (mount === found ? { ...plain, hostPath: mountPath } : mount)),
    overlay,
  };
};
