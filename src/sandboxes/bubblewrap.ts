import { BUBBLEWRAP, type BubblewrapOptions, checkedBubblewrapOptions } from "./bubblewrap/options.ts";
import { bubblewrapPreflight } from "./bubblewrap/preflight.ts";
import { createBubblewrapSandbox } from "./bubblewrap/sandbox.ts";
import { type BindMountSandboxProvider, createBindMountSandboxProvider } from "./contract.ts";

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
  return createBindMountSandboxProvider({
    name: BUBBLEWRAP,
    ...(settings.env && { env: settings.env }),
    capabilities: { sudo: false, networkPolicy: "on-off" },
    preflight: (preflightOptions) => bubblewrapPreflight(settings, preflightOptions),
    create: (createOptions) => createBubblewrapSandbox(settings, createOptions),
  });
};
