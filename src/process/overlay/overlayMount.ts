import { type ChildProcess, spawn } from "node:child_process";
import { close as closeFile, openSync } from "node:fs";
import { promisify } from "node:util";
import { ProcessStartError } from "../../errors.ts";
import { findProgram, hostPath } from "../hostPrograms.ts";
import { isRoot, mountOptions, type OverlayLayers, readOnlyMountOptions } from "./layers.ts";

/** An overlay that only processes in its own mount namespace see. */
export interface OverlayMount {
  /** The argv that runs a command where the overlay is mounted. */
  inside(argv: readonly string[]): readonly string[];
  /** The ids of this process's user, if it is root where the overlay is mounted. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** Unmounts it, unless a process still uses it: then the kernel does when that ends. Idempotent. */
  close(): Promise<void>;
}

/** Mounts, says so, and waits until its input ends. */
const MOUNT = 'mount -t overlay overlay -o "$1" "$2" && echo mounted && exec cat';

const start = (options: string, mountPath: string): ChildProcess =>
  spawn(
    findProgram("unshare"),
    [
      // An ordinary user may mount an overlay in a user namespace, where the user is root.
      ...(isRoot() ? [] : ["--user", "--map-root-user"]),
      "--mount",
      "--propagation",
      "private",
      "--",
      "sh",
      "-c",
      MOUNT,
      "sanddune",
      options,
      mountPath,
    ],
    { env: { PATH: hostPath(), LC_ALL: "C" }, stdio: ["pipe", "pipe", "pipe"], detached: true },
  );

/** In another thread: meanwhile the kernel forgets all files of the overlay, which takes 0.2 s for 100,000 of them. */
const closeDescriptor = promisify(closeFile);

/** A file system that does not answer must not keep a run from ending. */
const MOUNT_MS = 20_000;

const untilMounted = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("ETIMEDOUT");
    }, MOUNT_MS);
    let said = "";
    let complaint = "";
    child.stdin?.on("error", () => {});
    child.stderr?.on("data", (chunk: Buffer) => {
      complaint = `${complaint}${chunk}`.slice(-2000);
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk;
      if (!said.includes("mounted\n")) return;
      clearTimeout(timer);
      resolve();
    });
    const fail = (code: string, cause?: unknown) => {
      clearTimeout(timer);
      reject(new ProcessStartError("unshare", code, { cause }));
    };
    child.once("error", (cause: NodeJS.ErrnoException) => fail(cause.code ?? "unknown", cause));
    child.once("close", () => fail(complaint.trim() || "it ended without a message"));
  });

/**
 * Mounts an overlay in a mount namespace of its own. Open file descriptors keep the namespace, and no process does: when this
 * process ends in any way, the kernel unmounts the overlay. Rejects with a `ProcessStartError` that names the refusal.
 */
export const openOverlayMount = async (
  layers: OverlayLayers,
  mountPath: string,
  { isWritable = false }: { readonly isWritable?: boolean } = {},
): Promise<OverlayMount> => {
  const child = start(isWritable ? mountOptions(layers) : readOnlyMountOptions(layers), mountPath);
  const descriptors: { readonly namespace: string; readonly descriptor: number }[] = [];
  const closeDescriptors = async () => {
    await Promise.all(descriptors.map(({ descriptor }) => closeDescriptor(descriptor)));
  };
  try {
    await untilMounted(child);
    for (const namespace of isRoot() ? ["mnt"] : ["user", "mnt"]) {
      descriptors.push({ namespace, descriptor: openSync(`/proc/${child.pid}/ns/${namespace}`, "r") });
    }
  } catch (error) {
    await closeDescriptors();
    throw error;
  } finally {
    child.stdin?.end();
  }
  const names: Readonly<Record<string, string>> = { mnt: "--mount", user: "--user" };
  const entering = descriptors.map(
    ({ namespace, descriptor }) => `${names[namespace]}=/proc/${process.pid}/fd/${descriptor}`,
  );
  let closing: Promise<void> | undefined;
  return {
    inside: (argv) => [
      "nsenter",
      ...(isRoot() ? [] : ["--preserve-credentials"]),
      ...entering,
      "--",
      ...argv,
    ],
    user: isRoot() ? undefined : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    close: () => {
      closing ??= closeDescriptors();
      return closing;
    },
  };
};
