import { existsSync, readFileSync } from "node:fs";
import { isRoot } from "../../process/overlay/layers.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { type ContainerEngine, engineClients, hostUserId } from "./engine.ts";

const MOVES = "/sys/module/overlay/parameters/redirect_dir";

/** Podman has no option for that, and the files of a marked directory are not in the upper directory. */
const movesAreMarked = (): boolean => orUndefined(() => readFileSync(MOVES, "utf8"))?.trim() === "Y";

/** Podman, as the container sandboxes use it. */
export const podmanEngine: ContainerEngine = {
  ...engineClients.podman,
  removeArguments: ["rm", "--force", "--volumes", "--time", "0"],
  // Rootless Podman cannot pause a container without version 2 of cgroups.
  commitArguments: ["commit", "--quiet", "--pause=false"],
  // With one name, all other tags would go, too. `image rm --force` would remove the containers.
  untagArguments: (tag) => ["untag", tag, tag],
  // Podman would pass on the host's proxy settings, and the credentials that may be in them.
  runArguments: ["--http-proxy=false"],
  usualSocketPath: "/run/podman/podman.sock",
  localSocket: () => undefined,
  address: async () => process.env["CONTAINER_HOST"] || process.env["CONTAINER_CONNECTION"] || "this machine",
  clientArguments: (url) => ["--remote", "--url", url],
  defaultSelinuxLabel: () => (existsSync("/sys/fs/selinux/enforce") ? "z" : false),
  mountSetsLabels: true,
  overlayArguments: ({ sandboxPath }, { lowerPath, upperPath, workPath }) => [
    "--volume",
    `${lowerPath}:${sandboxPath}:O,upperdir=${upperPath},workdir=${workPath}`,
  ],
  // A colon in the option ends the name of the lower directory.
  stacksLayers: false,
  overlayProblem: async () => {
    // It may mount them by a program of its own, whose marks the kernel does not know.
    if (!isRoot()) return "rootless Podman mounts overlays in its own way";
    return movesAreMarked() ? "the kernel marks moved directories in an overlay of Podman" : undefined;
  },
  hostUser: async () => ({
    user: hostUserId(),
    runArguments: process.getuid?.() === 0 ? [] : ["--userns", "keep-id"],
  }),
};
