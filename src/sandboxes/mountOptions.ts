import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, posix, resolve, sep } from "node:path";
import { InvalidOptionsError } from "../errors.ts";
import { type Check, type Checks, flag, listOf, text } from "../options/checks.ts";
import type { SandboxMount } from "./contract.ts";

/** A host file or directory that the user wants to see in the sandbox. */
export interface MountOption {
  /** Absolute, `~/…`, or relative to the repository. It must exist. */
  readonly hostPath: string;
  /** Absolute path in the sandbox. */
  readonly sandboxPath: string;
  readonly readOnly?: boolean;
}

const MOUNT: Checks<MountOption> = { hostPath: text, sandboxPath: text, readOnly: flag };

/** The option `mounts`. */
export const mountOptions: Check = listOf("mounts", MOUNT, ["hostPath", "sandboxPath"]);

/** Sockets that hand the host to whoever can write to them. */
export const ENGINE_SOCKETS: readonly string[] = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/crio/crio.sock",
];

const userSockets = (): string[] => {
  const uid = process.getuid?.() ?? 0;
  const runtimeDirectory = process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${uid}`;
  const named = [process.env["DOCKER_HOST"], process.env["CONTAINER_HOST"]]
    .filter((address) => address?.startsWith("unix://"))
    .map((address) => (address as string).slice("unix://".length));
  return [join(runtimeDirectory, "docker.sock"), join(runtimeDirectory, "podman/podman.sock"), ...named];
};

const realpathIfAny = (path: string): Promise<string> => realpath(path).catch(() => path);

const contains = (surroundings: string, inner: string): boolean =>
  inner === surroundings || inner.startsWith(surroundings.endsWith(sep) ? surroundings : surroundings + sep);

const refuseUnsafe = async (hostPath: string): Promise<void> => {
  const home = await realpathIfAny(homedir());
  if (contains(hostPath, home)) {
    throw new InvalidOptionsError(
      "mounts",
      `${hostPath} would hand the whole home directory, with its keys and credentials, to the sandbox. Mount the part that is needed, or set \`allowUnsafeMounts: true\`.`,
    );
  }
  for (const socket of await Promise.all([...ENGINE_SOCKETS, ...userSockets()].map(realpathIfAny))) {
    if (contains(hostPath, socket)) {
      throw new InvalidOptionsError(
        "mounts",
        `${hostPath} would hand the container engine's socket ${socket}, and with it the host, to the sandbox. Set \`allowUnsafeMounts: true\` if that is wanted.`,
      );
    }
  }
};

/** Turns the user's mounts into mounts of real host paths, and refuses those that would give the host away. */
export const resolveMounts = (
  mounts: readonly MountOption[],
  options: { readonly repositoryPath: string; readonly allowUnsafeMounts: boolean },
): Promise<SandboxMount[]> =>
  Promise.all(
    mounts.map(async (mount) => {
      const expanded = /^~(?=\/|$)/.test(mount.hostPath)
        ? join(homedir(), mount.hostPath.slice(1))
        : mount.hostPath;
      const hostPath = await realpathIfAny(
        isAbsolute(expanded) ? expanded : resolve(options.repositoryPath, expanded),
      );
      if ((await stat(hostPath).catch(() => undefined)) === undefined) {
        throw new InvalidOptionsError(
          "mounts",
          `${mount.hostPath} does not exist on the host (${hostPath}).`,
        );
      }
      if (!posix.isAbsolute(mount.sandboxPath)) {
        throw new InvalidOptionsError(
          "mounts",
          `${mount.sandboxPath} is not an absolute path in the sandbox.`,
        );
      }
      if (!options.allowUnsafeMounts) await refuseUnsafe(hostPath);
      return { hostPath, sandboxPath: mount.sandboxPath, readOnly: mount.readOnly ?? false };
    }),
  );
