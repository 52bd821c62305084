import { needsNetwork } from "../agents/registry.ts";
import { checkImageName } from "../images/imageNames.ts";
import type { ContainerOptions } from "../sandboxes/containerOptions.ts";
import type { SandboxProvider } from "../sandboxes/contract.ts";
import type { MountOption } from "../sandboxes/mountOptions.ts";
import { kebabCase } from "./flagNames.ts";
import { type Choices, lookUp } from "./runDefaults.ts";
import { UsageError } from "./usageError.ts";

/** What the command line can say about a sandbox. */
export interface SandboxFlags {
  readonly imageName?: string;
  readonly network?: readonly string[];
  readonly mount?: readonly MountOption[];
  readonly allowUnsafeMounts?: boolean;
  readonly memory?: string;
  readonly cpus?: number;
  readonly pids?: number;
  readonly user?: string;
  readonly capability?: readonly string[];
  readonly selinuxLabel?: "z" | "Z" | "none";
  readonly engineArg?: readonly string[];
  readonly readOnlyPath?: readonly string[];
  readonly path?: string;
}

const FOR_ALL = ["network", "mount", "allowUnsafeMounts"] as const;
const FOR_CONTAINERS = [
  ...FOR_ALL,
  ...(["imageName", "memory", "cpus", "pids", "user", "capability", "selinuxLabel", "engineArg"] as const),
] as const;
const FOR_BUBBLEWRAP = [...FOR_ALL, "readOnlyPath", "path"] as const;

interface SandboxEntry {
  /** The flags that it understands. */
  readonly flags: readonly (keyof SandboxFlags)[];
  /** Loads the sandbox provider, and only that one. */
  create(flags: SandboxFlags, agentName: string): Promise<SandboxProvider>;
}

const containerOptionsOf = (flags: SandboxFlags): ContainerOptions => ({
  image: flags.imageName,
  network: flags.network,
  mounts: flags.mount,
  allowUnsafeMounts: flags.allowUnsafeMounts,
  memory: flags.memory,
  cpus: flags.cpus,
  pids: flags.pids,
  user: flags.user,
  capabilities: flags.capability,
  selinuxLabel: flags.selinuxLabel === "none" ? false : flags.selinuxLabel,
  extraArgs: flags.engineArg,
});

/** Without a network no agent could reach its model. */
const sharesHostNetwork = (networks: readonly string[] | undefined, agentName: string): boolean => {
  if (networks === undefined) return needsNetwork(agentName);
  const [network, ...others] = networks;
  if (others.length > 0 || (network !== "host" && network !== "none")) {
    throw new UsageError(
      "--network: bubblewrap knows only `host`, which is this machine's network, and `none`",
    );
  }
  return network === "host";
};

/** What the command line makes of the flags, for each sandbox that it knows. */
const sandboxRegistry: Readonly<Record<string, SandboxEntry>> = {
  docker: {
    flags: FOR_CONTAINERS,
    create: async (flags) => (await import("../sandboxes/docker.ts")).docker(containerOptionsOf(flags)),
  },
  podman: {
    flags: FOR_CONTAINERS,
    create: async (flags) => (await import("../sandboxes/podman.ts")).podman(containerOptionsOf(flags)),
  },
  bubblewrap: {
    flags: FOR_BUBBLEWRAP,
    create: async ({ network, mount, allowUnsafeMounts, readOnlyPath, path }, agentName) => {
      const isOpen = sharesHostNetwork(network, agentName);
      const { bubblewrap } = await import("../sandboxes/bubblewrap.ts");
      return bubblewrap({
        network: isOpen,
        mounts: mount,
        allowUnsafeMounts,
        readOnlyPaths: readOnlyPath,
        path,
      });
    },
  },
};

/** The sandboxes of the command line. */
export const sandboxNames: readonly string[] = Object.keys(sandboxRegistry);

const ALL_FLAGS = [...new Set(Object.values(sandboxRegistry).flatMap(({ flags }) => flags))];

const refuseForeignFlags = (name: string, entry: SandboxEntry, given: SandboxFlags): void => {
  for (const flag of ALL_FLAGS) {
    if (given[flag] === undefined || entry.flags.includes(flag)) continue;
    const others = sandboxNames.filter((other) => sandboxRegistry[other]?.flags.includes(flag));
    const ways = others.map((other) => `--sandbox ${other}`).join(" or ");
    throw new UsageError(`--${kebabCase(flag)} means nothing to ${name}. Leave it out, or use ${ways}`);
  }
};

/** The sandbox that was chosen. */
export const createSandboxProvider = ({ agent, sandbox, imageName }: Choices, flags: SandboxFlags) => {
  const entry = lookUp(sandboxRegistry, "--sandbox", sandbox);
  refuseForeignFlags(sandbox?.value ?? "", entry, flags);
  const problem = imageName && checkImageName(imageName.value);
  if (imageName !== undefined && problem !== undefined) throw imageName.refuse(problem);
  // The image of the config file is for whatever has images.
  return entry.create({ ...flags, imageName: imageName?.value }, agent?.value ?? "");
};
