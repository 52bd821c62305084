import { dockerEngine } from "./containers/dockerEngine.ts";
import type { ContainerOptions, ContainerSandboxes, RemoteContainerOptions } from "./containers/options.ts";
import { containerSandboxes } from "./containers/provider.ts";

export type { MountOption } from "./mounts/resolveMounts.ts";

/** The options of `docker()` for containers on this machine. */
export type DockerOptions = ContainerOptions;

/** The options of `docker()` for containers on other machines. */
export type RemoteDockerOptions = RemoteContainerOptions;

/**
 * Sandboxes that are Docker containers, one each, without capabilities. The image is never pulled or built by a run.
 * Commands run as the host's user, not as the image's, so the worktree's files stay theirs.
 * With `host`, containers of engines on other machines: they have files of their own, and commands run as the image's user.
 *
 * @example
 * await run({ agent, sandbox: docker({ imageName: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 * await run({ agent, sandbox: docker({ host: ["ssh://me@one", "ssh://me@two"] }), prompt: "Fix issue 7" });
 */
export const docker: ContainerSandboxes = containerSandboxes(dockerEngine);
