import type { ContainerOptions } from "./containerOptions.ts";
import { containerSandboxProvider } from "./containerSandbox.ts";
import type { BindMountSandboxProvider } from "./contract.ts";
import { podmanEngine } from "./podmanEngine.ts";

export type PodmanOptions = ContainerOptions;

/**
 * Sandboxes that are Podman containers, one each, without capabilities; rootless when sanddune is. The image is never
 * pulled or built by a run. Commands run as the host's user, so the worktree's files stay theirs.
 *
 * @example
 * await run({ agent, sandbox: podman({ image: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const podman = (settings: PodmanOptions = {}): BindMountSandboxProvider =>
  containerSandboxProvider(podmanEngine, settings);
