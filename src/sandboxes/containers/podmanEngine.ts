import { existsSync } from "node:fs";
import { type ContainerEngine, engineClients, hostUserId } from "./engine.ts";

/** Podman, as the container sandboxes use it. */
export const podmanEngine: ContainerEngine = {
  ...engineClients.podman,
  removeArguments: ["rm", "--force", "--volumes", "--time", "0"],
  // Podman would pass on the host's proxy settings, and the credentials that may be in them.
  runArguments: ["--http-proxy=false"],
  usualSocketPath: "/run/podman/podman.sock",
  clientArguments: (url) => ["--remote", "--url", url],
  defaultSelinuxLabel: () => (existsSync("/sys/fs/selinux/enforce") ? "z" : false),
  mountSetsLabels: true,
  hostUser: async () => ({
    user: hostUserId(),
    runArguments: process.getuid?.() === 0 ? [] : ["--userns", "keep-id"],
  }),
};
