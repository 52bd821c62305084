import { InvalidOptionsError } from "../../errors.ts";
import { remoteContainerProvider } from "../remote/remoteProvider.ts";
import type { ContainerEngine } from "./engine.ts";
import {
  type ContainerOptions,
  type ContainerSandboxes,
  checkedContainerOptions,
  type RemoteContainerOptions,
} from "./options.ts";
import { containerSandboxProvider } from "./sandbox.ts";

const REMOTE_OPTIONS = ["leaseMs", "lifetimeMs"] as const;

/** The sandbox providers of an engine, on this machine and on others. */
export const containerSandboxes = (engine: ContainerEngine): ContainerSandboxes => {
  const provider = (options: ContainerOptions | RemoteContainerOptions = {}) => {
    const settings = checkedContainerOptions(options);
    if (settings.host !== undefined) return remoteContainerProvider(engine, settings);
    const remote = REMOTE_OPTIONS.find((name) => settings[name] !== undefined);
    if (remote === undefined) return containerSandboxProvider(engine, settings);
    throw new InvalidOptionsError(remote, "is for engines on other machines, so it needs `host`");
  };
  return provider as ContainerSandboxes;
};
