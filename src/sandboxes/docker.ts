import type { ContainerOptions } from "./containerOptions.ts";
import { containerSandboxProvider } from "./containerSandbox.ts";
import type { BindMountSandboxProvider } from "./contract.ts";
import { dockerEngine } from "./dockerEngine.ts";

export type DockerOptions = ContainerOptions;

/**
 * Sandboxes that are Docker containers, one each, without capabilities. The image is never pulled or built by a run.
 * Commands run as the host's user, whoever the image's user is, so the worktree's files stay theirs.
 *
 * @example
 * await run({ agent, sandbox: docker({ image: "sanddune:my-app", memory: "4g" }), prompt: "Fix issue 7" });
 */
export const docker = (settings: DockerOptions = {}): BindMountSandboxProvider =>
  containerSandboxProvider(dockerEngine, settings);
