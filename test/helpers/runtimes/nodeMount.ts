import { join } from "node:path";
import type { MountOption } from "../../../src/sandboxes/mounts/resolveMounts.ts";
import { AGENTS } from "./runtimes.ts";

const NODE_IN_SANDBOX = "/opt/node";

/** Brings the Node that `scripts/agents/install` has installed into a container that has none. */
export const nodeMount = (): MountOption => ({
  hostPath: join(AGENTS, "node/node_modules/node/bin"),
  sandboxPath: NODE_IN_SANDBOX,
  readOnly: true,
});

/** PATH of a container with `nodeMount()`. */
export const NODE_PATH = `${NODE_IN_SANDBOX}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
