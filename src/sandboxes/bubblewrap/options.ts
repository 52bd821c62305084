import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { InvalidOptionsError } from "../../errors.ts";
import { type Checks, checkedOptions, flag, names, oneOf, text } from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import { absolutePaths } from "../../options/checks/sandboxSettings.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { BindMountCreateOptions, SandboxMount } from "../contract.ts";
import { refuseLinkOut } from "../mounts/refuseLinkOut.ts";
import { type MountOption, mountOptions, resolveMounts } from "../mounts/resolveMounts.ts";
import { refuseUnsafeMount } from "../mounts/unsafeMounts.ts";

export const BUBBLEWRAP = "bubblewrap";

/** The options of `bubblewrap()`. */
export interface BubblewrapOptions {
  /** `true` or `"host"` shares the host's network, loopback included. There is no network otherwise. */
  readonly network?: boolean | "host" | "none";
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /** Host files and directories that the sandbox sees besides the worktree. */
  readonly mounts?: readonly MountOption[];
  /** Accept mounts that show the home directory, a container engine's socket or the repository's own data. */
  readonly allowUnsafeMounts?: boolean;
  /** More host directories with tools, to be seen at the same path, e.g. `/opt/node`. */
  readonly readOnlyPaths?: readonly string[];
  /**
   * Programs on your PATH that the sandbox sees, read-only and with their installation, wherever they are; the agents that
   * sanddune knows when it is left out, and none if `path` is set.
   */
  readonly programs?: readonly string[];
  /** PATH in the sandbox. */
  readonly path?: string;
}

const OPTIONS: Checks<BubblewrapOptions> = {
  network: oneOf([true, false, "host", "none"]),
  env,
  mounts: mountOptions,
  allowUnsafeMounts: flag,
  readOnlyPaths: absolutePaths,
  programs: names,
  path: text,
};

/** Checks the options of `bubblewrap()`; throws an `InvalidOptionsError` that names the wrong one. */
export const checkedBubblewrapOptions = (options: BubblewrapOptions): BubblewrapOptions =>
  checkedOptions(options, OPTIONS);

/** Exactly these values: nothing else opens the network. */
export const sharesNetwork = ({ network }: BubblewrapOptions): boolean =>
  network === true || network === "host";

/** The mounts of the options. `readOnlyPaths` are checked like mounts. */
export const userMounts = async (
  settings: BubblewrapOptions,
  { repositoryPath, cwd }: Pick<BindMountCreateOptions, "repositoryPath" | "cwd">,
): Promise<SandboxMount[]> => {
  const { mounts = [], readOnlyPaths = [], allowUnsafeMounts = false } = settings;
  for (const path of readOnlyPaths) {
    if (!existsSync(path)) throw new InvalidOptionsError("readOnlyPaths", `there is no ${path}`);
    if (allowUnsafeMounts) continue;
    await refuseLinkOut("readOnlyPaths", path, repositoryPath);
    await refuseUnsafeMount(
      "readOnlyPaths",
      { hostPath: await realpath(path), readOnly: true },
      repositoryPath,
    );
  }
  return resolveMounts(mounts, { repositoryPath, ...(cwd !== undefined && { cwd }), allowUnsafeMounts });
};
