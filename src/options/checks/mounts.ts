import { type Check, type Checks, flag, listOf, text } from "./checks.ts";

/** A host file or directory to mount into the sandbox. */
export interface MountOption {
  /** An existing path: absolute, `~/…`, or relative to the run's `cwd`. */
  readonly hostPath: string;
  /** Absolute path in the sandbox. */
  readonly sandboxPath: string;
  /** Whether the sandbox can only read it. Default: `false`. */
  readonly readOnly?: boolean;
}

const MOUNT: Checks<MountOption> = { hostPath: text, sandboxPath: text, readOnly: flag };

/** The option `mounts`. */
export const mountOptions: Check = listOf("mounts", MOUNT, ["hostPath", "sandboxPath"]);
