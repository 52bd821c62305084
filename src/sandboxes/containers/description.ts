import { count } from "../../options/checks/checks.ts";
import type { SandboxProvider } from "../contract.ts";
import { describeProvider } from "../description/providerDescription.ts";
import * as shared from "../description/settings.ts";
import type { ContainerOptions, ContainerSandboxes } from "./options.ts";

const SETTINGS = {
  imageName: shared.imageName,
  network: shared.network,
  mounts: shared.mounts,
  allowUnsafeMounts: shared.allowUnsafeMounts,
  memory: shared.memory,
  cpus: shared.cpus,
  pids: {
    flag: "--pids <n>",
    help: "processes and threads of the container (default: 4096)",
    kind: "count",
    config: count,
  },
  user: shared.user,
  capabilities: {
    flag: "--capability <name>",
    help: "add a Linux capability to the container (repeatable)",
    kind: "texts",
  },
  selinuxLabel: {
    flag: "--selinux-label <label>",
    help: "label of the container's mounts",
    kind: "text",
    choices: ["z", "Z", "none"],
  },
  extraArgs: {
    flag: "--engine-arg <arg>",
    help: "extra argument for docker run or podman run (repeatable)",
    kind: "texts",
  },
  host: {
    flag: "--host <url>",
    help: "docker or podman on another machine: ssh://user@machine, tcp://machine:port (repeatable)",
    kind: "hosts",
    isGeneral: true,
  },
  lifetimeMs: shared.lifetimeMs,
} as const;

/** The provider refuses settings that exclude `host`. */
const containers = (
  engine: ContainerSandboxes,
  { selinuxLabel, ...settings }: { readonly selinuxLabel?: string | undefined },
): SandboxProvider =>
  engine({
    ...settings,
    ...(selinuxLabel !== undefined && { selinuxLabel: selinuxLabel === "none" ? false : selinuxLabel }),
  } as ContainerOptions);

export const docker = describeProvider({
  name: "docker",
  settings: SETTINGS,
  create: async (settings) => containers((await import("../docker.ts")).docker, settings),
  leftovers: async () => (await import("./leftovers.ts")).dockerLeftovers,
  imageEngine: "docker",
  doctor: {
    trial: "docker info",
    isLocal: true,
    version: async () => (await import("./engineVersion.ts")).dockerVersion(),
    ownerFix: "Leave user namespace remapping (userns-remap) of the daemon off, or use podman.",
  },
});

const ID_RANGES_FIX =
  'sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "$USER" && podman system migrate';

export const podman = describeProvider({
  name: "podman",
  settings: SETTINGS,
  create: async (settings) => containers((await import("../podman.ts")).podman, settings),
  leftovers: async () => (await import("./leftovers.ts")).podmanLeftovers,
  imageEngine: "podman",
  doctor: {
    trial: "podman info",
    isLocal: true,
    version: async () => (await import("./engineVersion.ts")).podmanVersion(ID_RANGES_FIX),
    ownerFix: ID_RANGES_FIX,
  },
});
