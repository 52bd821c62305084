import { type Check, type Checks, flag, listOf, text } from "./checks.ts";

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
