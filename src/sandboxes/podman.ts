import { existsSync } from "node:fs";
import { type ContainerEngine, hostUserId } from "./containerEngine.ts";
import type { ContainerOptions } from "./containerOptions.ts";
import { containerSandboxProvider } from "./containerSandbox.ts";
import type { BindMountSandboxProvider } from "./contract.ts";

export type PodmanOptions = ContainerOptions;

const engine: ContainerEngine = {
  name: "podman",
  installHint: "Install Podman: https://podman.io/docs/installation",
  removeArguments: ["rm", "--force", "--volumes", "--time", "0"],
  defaultSelinuxLabel: () => (existsSync("/sys/fs/selinux/enforce") ? "z" : false),
  hostUser: async () => ({
    user: hostUserId(),
    // Podman would hand the host's proxy settings in, and the credentials that may be in them.
    runArguments: ["--http-proxy=false", ...(process.getuid?.() === 0 ? [] : ["--userns", "keep-id"])],
  }),
};

/**
 * Sandboxes that are Podman containers, one each, without capabilities; rootless when sanddune is. The image is never
 * pulled or built by a run. Commands run as the host's user, so the worktree's files stay theirs.
 *
 * @example
 * await run({ agent, sandbox: podman({ image: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const podman = (settings: PodmanOptions = {}): BindMountSandboxProvider =>
  containerSandboxProvider(engine, settings);
