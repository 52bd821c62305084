import type { SandboxProvider } from "../sandboxes/contract.ts";
import { UsageError } from "./usageError.ts";

/** What the command line can say about a sandbox. */
export interface SandboxFlags {
  readonly image?: string;
  readonly network?: string;
}

interface SandboxEntry {
  /** One line of the help. */
  readonly summary: string;
  /** Loads the sandbox provider, and only that one. */
  create(flags: SandboxFlags): Promise<SandboxProvider>;
}

const bubblewrapSettings = ({ image, network }: SandboxFlags): { readonly network: boolean } => {
  if (image !== undefined) {
    throw new UsageError(
      "--image: bubblewrap has no images, it shows the agent this machine's programs. Leave --image out, or use --sandbox docker.",
    );
  }
  if (network !== undefined && network !== "host") {
    throw new UsageError(
      "--network: bubblewrap knows only `host`, which is this machine's network. Without --network there is none.",
    );
  }
  return { network: network === "host" };
};

/** The sandboxes of the command line. A new provider is one entry here. */
export const sandboxRegistry: Readonly<Record<string, SandboxEntry>> = {
  docker: {
    summary: "a Docker container",
    create: async (flags) => (await import("../sandboxes/docker.ts")).docker(flags),
  },
  podman: {
    summary: "a Podman container",
    create: async (flags) => (await import("../sandboxes/podman.ts")).podman(flags),
  },
  bubblewrap: {
    summary: "Linux namespaces: no daemon, no image",
    create: async (flags) => {
      const settings = bubblewrapSettings(flags);
      return (await import("../sandboxes/bubblewrap.ts")).bubblewrap(settings);
    },
  },
};
