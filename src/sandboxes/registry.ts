import { InvalidOptionsError } from "../errors.ts";
import { dockerEngine } from "./containers/dockerEngine.ts";
import { containerLeftovers } from "./containers/leftovers.ts";
import type { ContainerOptions, ContainerSandboxes } from "./containers/options.ts";
import { podmanEngine } from "./containers/podmanEngine.ts";
import type { SandboxProvider } from "./contract.ts";
import { directoryLeftovers } from "./directories/leftovers.ts";
import {
  bubblewrapDirectory,
  removeBubblewrap,
  removeTestIsolated,
  testIsolatedDirectory,
} from "./directories/sandboxDirectories.ts";
import { e2bLeftovers } from "./e2b/leftovers.ts";
import { podLeftovers } from "./kubernetes/leftovers.ts";
import { kubernetesOptionsOf } from "./kubernetes/settings.ts";
import type { SandboxLeftovers } from "./leftovers.ts";
import { modalLeftovers } from "./modal/leftovers.ts";
import type { MountOption } from "./mounts/options.ts";
import { vercelLeftovers } from "./vercel/leftovers.ts";

/** What can be said about a sandbox where there is no program to say it in: on the command line. */
export interface SandboxSettings {
  readonly imageName?: string | undefined;
  readonly network?: readonly string[] | undefined;
  readonly mount?: readonly MountOption[] | undefined;
  readonly allowUnsafeMounts?: boolean | undefined;
  readonly memory?: string | undefined;
  readonly cpus?: number | undefined;
  readonly pids?: number | undefined;
  readonly user?: string | undefined;
  readonly capability?: readonly string[] | undefined;
  readonly selinuxLabel?: "z" | "Z" | "none" | undefined;
  readonly engineArg?: readonly string[] | undefined;
  readonly host?: readonly string[] | undefined;
  readonly lifetimeMs?: number | undefined;
  readonly readOnlyPath?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly namespace?: string | undefined;
  readonly context?: string | undefined;
}

/** Everything that is to be known about a sandbox provider by its name alone. */
export interface SandboxEntry {
  /** The settings that it understands. */
  readonly settings: readonly (keyof SandboxSettings)[];
  /** Loads the sandbox provider, and only that one. Left out where it is for programs only. */
  create?(settings: SandboxSettings, needs: { readonly network: boolean }): Promise<SandboxProvider>;
  /** How what dead processes left of its sandboxes is found. */
  readonly leftovers: SandboxLeftovers;
  /** Of sandboxes that are made elsewhere, which `sanddune doctor` asks about: what shows people why that does not work. */
  readonly trial?: string;
}

const FOR_ALL = ["network", "mount", "allowUnsafeMounts"] as const;
const FOR_CONTAINERS = [
  ...FOR_ALL,
  ...(["imageName", "memory", "cpus", "pids", "user", "capability", "selinuxLabel", "engineArg"] as const),
  ...(["host", "lifetimeMs"] as const),
] as const;

/** What does not go together with `host`, the provider says. */
const containersOf = (engine: ContainerSandboxes, settings: SandboxSettings): SandboxProvider =>
  engine({
    imageName: settings.imageName,
    network: settings.network,
    memory: settings.memory,
    cpus: settings.cpus,
    pids: settings.pids,
    user: settings.user,
    capabilities: settings.capability,
    extraArgs: settings.engineArg,
    mounts: settings.mount,
    allowUnsafeMounts: settings.allowUnsafeMounts,
    selinuxLabel: settings.selinuxLabel === "none" ? false : settings.selinuxLabel,
    host: settings.host,
    lifetimeMs: settings.lifetimeMs,
  } as ContainerOptions);

/** Without a network no agent could reach its model. */
const sharesHostNetwork = (networks: readonly string[] | undefined, isNeeded: boolean): boolean => {
  if (networks === undefined) return isNeeded;
  const [network, ...others] = networks;
  if (others.length > 0 || (network !== "host" && network !== "none")) {
    throw new InvalidOptionsError(
      "network",
      'bubblewrap knows only "host", which is this machine\'s network, and "none"',
    );
  }
  return network === "host";
};

/** What a service is told about what its sandboxes may reach. */
const cloudNetworkOf = (name: string, { network }: SandboxSettings): "none" | undefined => {
  if (network === undefined) return undefined;
  if (network.length === 1 && network[0] === "none") return "none";
  throw new InvalidOptionsError(
    "network",
    `${name} knows only "none". What may be reached is an option of ${name}() in a program`,
  );
};

/** All sandbox providers that sanddune knows by their name: one that is not here cannot be chosen by it, or cleaned up after. */
export const sandboxRegistry: Readonly<Record<string, SandboxEntry>> = {
  docker: {
    settings: FOR_CONTAINERS,
    create: async (settings) => containersOf((await import("./docker.ts")).docker, settings),
    leftovers: containerLeftovers(dockerEngine),
  },
  podman: {
    settings: FOR_CONTAINERS,
    create: async (settings) => containersOf((await import("./podman.ts")).podman, settings),
    leftovers: containerLeftovers(podmanEngine),
  },
  bubblewrap: {
    settings: [...FOR_ALL, "readOnlyPath", "path"],
    create: async ({ network, mount, allowUnsafeMounts, readOnlyPath, path }, needs) =>
      (await import("./bubblewrap.ts")).bubblewrap({
        network: sharesHostNetwork(network, needs.network),
        mounts: mount,
        allowUnsafeMounts,
        readOnlyPaths: readOnlyPath,
        path,
      }),
    leftovers: directoryLeftovers(false, bubblewrapDirectory, removeBubblewrap),
  },
  e2b: {
    settings: ["imageName", "network", "lifetimeMs"],
    create: async (settings) =>
      (await import("./e2b.ts")).e2b({
        template: settings.imageName,
        network: cloudNetworkOf("e2b", settings),
        lifetimeMs: settings.lifetimeMs,
      }),
    leftovers: e2bLeftovers,
    trial: "curl --head https://api.e2b.app",
  },
  vercel: {
    settings: ["imageName", "network", "cpus", "lifetimeMs"],
    create: async (settings) =>
      (await import("./vercel.ts")).vercel({
        imageName: settings.imageName,
        vcpus: settings.cpus,
        network: cloudNetworkOf("vercel", settings),
        lifetimeMs: settings.lifetimeMs,
      }),
    leftovers: vercelLeftovers,
    trial: "curl --head https://vercel.com/api",
  },
  modal: {
    settings: ["imageName", "network", "cpus", "memory", "lifetimeMs"],
    create: async (settings) =>
      (await import("./modal.ts")).modal({
        imageName: settings.imageName,
        cpus: settings.cpus,
        memory: settings.memory,
        network: cloudNetworkOf("modal", settings),
        lifetimeMs: settings.lifetimeMs,
      }),
    leftovers: modalLeftovers,
    trial: "curl --head https://api.modal.com",
  },
  kubernetes: {
    settings: ["imageName", "namespace", "context", "memory", "cpus", "user", "lifetimeMs"],
    create: async (settings) => (await import("./kubernetes.ts")).kubernetes(kubernetesOptionsOf(settings)),
    leftovers: podLeftovers,
    trial: "kubectl get pods",
  },
  "test-isolated": {
    settings: [],
    leftovers: directoryLeftovers(true, testIsolatedDirectory, removeTestIsolated),
  },
};

const knownLeftovers = new Map(
  Object.entries(sandboxRegistry).map(([name, { leftovers }]) => [name, leftovers]),
);

/** By the name of the sandbox provider. Sandboxes of providers that are not listed are their users' to look after. */
export const sandboxLeftovers: ReadonlyMap<string, SandboxLeftovers> = knownLeftovers;

/** Lets this process find the sandboxes of a provider that the user has named by its module. */
export const knowLeftovers = (provider: string, leftovers: SandboxLeftovers): void => {
  if (!Object.hasOwn(sandboxRegistry, provider)) knownLeftovers.set(provider, leftovers);
};
