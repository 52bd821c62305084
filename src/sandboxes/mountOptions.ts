import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, posix, resolve } from "node:path";
import { InvalidOptionsError } from "../errors.ts";
import { type Check, type Checks, flag, listOf, text } from "../options/checks.ts";
import type { SandboxCreateOptions, SandboxMount } from "./contract.ts";
import { refuseUnsafeMount } from "./mounts/unsafeMounts.ts";

/** A host file or directory that the user wants to see in the sandbox. */
export interface MountOption {
  /** Absolute, `~/…`, or relative to `cwd` of the run. It must exist. */
  readonly hostPath: string;
  /** Absolute path in the sandbox. */
  readonly sandboxPath: string;
  /** Whether the sandbox may only read it; `false` when it is left out. */
  readonly readOnly?: boolean;
}

const MOUNT: Checks<MountOption> = { hostPath: text, sandboxPath: text, readOnly: flag };

/** The option `mounts`. */
export const mountOptions: Check = listOf("mounts", MOUNT, ["hostPath", "sandboxPath"]);

/** Turns the user's mounts into mounts of real host paths, and refuses those that would give the host away. */
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
      if (!options.allowUnsafeMounts) await refuseUnsafeMount("mounts", mount, options.repositoryPath);
      return mount;
    }),
  );
