import type { SandboxProvider } from "../contract.ts";
import type { SandboxLeftovers } from "../leftovers.ts";
import type { SandboxSettings, SettingValues } from "./settings.ts";

/** How `sanddune doctor` examines the sandboxes of a provider. */
export interface DoctorChecks {
  /** A command that shows the user why sandboxes do not work. */
  readonly trial: string;
  /** Sandboxes are made on this machine, at no cost: doctor opens one and looks into it. */
  readonly isLocal: boolean;
  /** Resolves with the version of the runtime; rejects as a run would. The preflight is the check if it is left out. */
  version?(): Promise<string>;
  /** What to do when files made in a sandbox belong to another user. */
  readonly ownerFix?: string;
}

/**
 * What sanddune knows about a sandbox provider by its name alone. Whatever costs time to load is loaded by the functions:
 * importing a description must stay cheap, because every command imports all of them.
 */
export interface ProviderDescription<Settings extends SandboxSettings = SandboxSettings> {
  readonly name: string;
  /** By the name of the option that they set. */
  readonly settings: Settings;
  /** Makes the provider for the command line. Left out where only programs use it. */
  create?(settings: SettingValues<Settings>, needs: { readonly network: boolean }): Promise<SandboxProvider>;
  /** How sandboxes of dead processes are found and removed. */
  leftovers(): Promise<SandboxLeftovers>;
  /** The engine that builds images for it on this machine. Left out where there is none. */
  readonly imageEngine?: "docker" | "podman";
  readonly doctor?: DoctorChecks;
}

/** Checks a description against the settings that it lists. */
export const describeProvider = <const Settings extends SandboxSettings>(
  description: ProviderDescription<Settings>,
): ProviderDescription => description as ProviderDescription;
