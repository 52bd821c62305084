import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, posix, resolve } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import type { MountOption } from "../../options/checks/mounts.ts";
import type { SandboxCreateOptions, SandboxMount } from "../contract.ts";
import { refuseLinkOut } from "./refuseLinkOut.ts";
import { refuseUnsafeMount } from "./unsafeMounts.ts";

export { type MountOption, mountOptions } from "../../options/checks/mounts.ts";

/** Resolves the user's mounts to real host paths, and refuses those that would expose the host. */
export const resolveMounts = (
  mounts: readonly MountOption[],
  options: Pick<SandboxCreateOptions, "repositoryPath" | "cwd"> & { readonly allowUnsafeMounts: boolean },
): Promise<SandboxMount[]> =>
  Promise.all(
    mounts.map(async ({ hostPath: given, sandboxPath, readOnly = false }) => {
      const expanded = /^~(?=\/|$)/.test(given) ? join(homedir(), given.slice(1)) : given;
      const path = isAbsolute(expanded) ? expanded : resolve(options.cwd ?? options.repositoryPath, expanded);
      const hostPath = await realpath(path).catch(() => path);
      if ((await stat(hostPath).catch(() => undefined)) === undefined) {
        throw new InvalidOptionsError("mounts", `${given} does not exist on the host (${hostPath}).`);
      }
      if (!posix.isAbsolute(sandboxPath)) {
        throw new InvalidOptionsError("mounts", `${sandboxPath} is not an absolute path in the sandbox.`);
      }
      const mount = { hostPath, sandboxPath, readOnly };
      if (!options.allowUnsafeMounts) {
        await refuseLinkOut("mounts", path, options.repositoryPath);
        await refuseUnsafeMount("mounts", mount, options.repositoryPath);
      }
      return mount;
    }),
  );
