import { overlayProblem } from "../process/overlay/overlayProblem.ts";
import { sharedAnswer } from "../tools/wait/sharedAnswer.ts";
import {
  BUBBLEWRAP,
  type BubblewrapOptions,
  checkedBubblewrapOptions,
  sharesNetwork,
} from "./bubblewrap/options.ts";
import { bubblewrapPreflight, tryNamespaces } from "./bubblewrap/preflight.ts";
import { createBubblewrapSandbox } from "./bubblewrap/sandbox.ts";
import { programsBase } from "./bubblewrap/snapshot.ts";
import { type BindMountSandboxProvider, createBindMountSandboxProvider } from "./contract.ts";
import { settingsDigest } from "./handle/settingsDigest.ts";

/** The machine's settings hardly change while a fleet runs. */
const NAMESPACES_FRESH_MS = 60_000;

export type { MountOption } from "./mounts/resolveMounts.ts";
export type { BubblewrapOptions };

/**
 * Sandboxes made of Linux namespaces, without a daemon and without an image: commands see the host's programs
 * read-only, the worktree, their own home and /tmp, and nothing else on the host.
 *
 * Each command has a pid namespace of its own, so background processes end with the command that started them; files
 * stay until the sandbox is closed. New files in the worktree belong to the host's user. There is no root (`sudo`).
 *
 * @example
 * await run({ agent, sandbox: bubblewrap({ network: true }), prompt: "Fix issue 7" });
 */
export const bubblewrap = (options: BubblewrapOptions = {}): BindMountSandboxProvider => {
  const settings = checkedBubblewrapOptions(options);
  const requireNamespaces = sharedAnswer(NAMESPACES_FRESH_MS, tryNamespaces);
  return createBindMountSandboxProvider({
    name: BUBBLEWRAP,
    ...(settings.env && { env: settings.env }),
    capabilities: { sudo: false, networkPolicy: "on-off" },
    overlayProblem,
    stacksLayers: true,
    preflight: (preflightOptions) => bubblewrapPreflight(settings, preflightOptions, requireNamespaces),
    snapshotBase: async (preflightOptions) =>
      `${await programsBase(settings, preflightOptions)} ${settingsDigest({ network: sharesNetwork(settings), mounts: settings.mounts })}`,
    create: (createOptions) => createBubblewrapSandbox(settings, createOptions),
  });
};
