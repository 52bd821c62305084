import type { ContainerOptions, ContainerSandboxes, RemoteContainerOptions } from "./containers/options.ts";
import { podmanEngine } from "./containers/podmanEngine.ts";
import { containerSandboxes } from "./containers/provider.ts";

export type { MountOption } from "./mounts/resolveMounts.ts";

/** The options of `podman()` for containers on this machine. */
export type PodmanOptions = ContainerOptions;

/** The options of `podman()` for containers on other machines. */
export type RemotePodmanOptions = RemoteContainerOptions;

/**
 * Sandboxes that are Podman containers, one each, without capabilities; rootless when sanddune is. The image is never
 * pulled or built by a run. Commands run as the host's user, so the worktree's files stay theirs.
 * With `host`, containers of engines on other machines: they have files of their own, and commands run as the image's user.
 *
 * @example
 * await run({ agent, sandbox: podman({ imageName: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 * await run({ agent, sandbox: podman({ host: ["ssh://me@one", "ssh://me@two"] }), prompt: "Fix issue 7" });
 */
export const podman: ContainerSandboxes = containerSandboxes(podmanEngine);
