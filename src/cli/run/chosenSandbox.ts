import { resolve } from "node:path";
import { needsNetwork } from "../../agents/registry.ts";
import { checkImageName } from "../../images/imageNames.ts";
import type { Project } from "../../project/findProject.ts";
import { isModulePath } from "../../project/modulePath.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { type SandboxEntry, type SandboxSettings, sandboxRegistry } from "../../sandboxes/registry.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";
import { asConfigError, sandboxDefaults } from "../project/configured.ts";
import { configuredModule, loadProvider } from "../project/providerModule.ts";
import { requireTrust } from "../project/trust.ts";
import { kebabCase } from "../shared/flagNames.ts";
import { UsageError } from "../shared/usageError.ts";
import { type Choices, lookUp, type Said } from "./runDefaults.ts";

/** What the command line can say about a sandbox. */
export interface SandboxFlags extends Omit<SandboxSettings, "lifetimeMs"> {
  /** In seconds. */
  readonly lifetime?: number;
}

type Offered = Required<Pick<SandboxEntry, "create">> & SandboxEntry;

const offered: Readonly<Record<string, Offered>> = Object.fromEntries(
  Object.entries(sandboxRegistry).filter(
    (entry): entry is [string, Offered] => entry[1].create !== undefined,
  ),
);

/** The sandboxes of the command line. */
export const sandboxNames: readonly string[] = Object.keys(offered);

const flagFor = (setting: keyof SandboxSettings): string =>
  setting === "lifetimeMs" ? "--lifetime" : `--${kebabCase(setting)}`;

const ALL_SETTINGS = [...new Set(Object.values(offered).flatMap(({ settings }) => settings))];

const refuseForeignFlags = (
  name: string,
  entry: Pick<SandboxEntry, "settings">,
  given: SandboxSettings,
): void => {
  for (const setting of ALL_SETTINGS) {
    if (given[setting] === undefined || entry.settings.includes(setting)) continue;
    const others = sandboxNames.filter((other) => offered[other]?.settings.includes(setting));
    const ways = others.map((other) => `--sandbox ${other}`).join(" or ");
    throw new UsageError(`${flagFor(setting)} means nothing to ${name}. Leave it out, or use ${ways}`);
  }
};

const settingsOf = (flags: SandboxFlags, imageName: string | undefined): SandboxSettings => {
  const given: SandboxSettings = {
    ...flags,
    lifetimeMs: flags.lifetime === undefined ? undefined : flags.lifetime * 1000,
  };
  const known = ALL_SETTINGS.map((setting) => [setting, given[setting]]);
  // The image of the config file is for whatever has images.
  return { ...Object.fromEntries(known), imageName };
};

type Configured = Pick<Project, "config" | "configPath">;

/** What is to be known of a project for its sandboxes. */
export type SandboxProject = Configured & Pick<Project, "configDirectory" | "gitDirectory">;

const providers = new Map<string, Promise<SandboxProvider>>();

/** A custom provider has its options in its module. */
const loadModule = async (said: Said, flags: SandboxFlags, project: SandboxProject) => {
  refuseForeignFlags(said.value, { settings: [] }, settingsOf(flags, flags.imageName));
  const path = said.isFlag ? resolve(said.value) : configuredModule(project);
  return loadProvider(path, said);
};

/** The sandbox that was chosen. */
export const createSandboxProvider = async (
  { agent, sandbox, imageName }: Choices,
  flags: SandboxFlags,
  project: SandboxProject,
): Promise<SandboxProvider> => {
  requireTrust(project);
  if (sandbox !== undefined && isModulePath(sandbox.value)) return loadModule(sandbox, flags, project);
  const entry = lookUp(offered, "--sandbox", sandbox);
  const name = sandbox?.value ?? "";
  refuseForeignFlags(name, entry, settingsOf(flags, flags.imageName));
  const problem = imageName && checkImageName(imageName.value);
  if (imageName !== undefined && problem !== undefined) throw imageName.refuse(problem);
  const defaults = sandboxDefaults(project, name, entry);
  const settings = settingsOf({ ...defaults, ...withoutUndefined(flags) }, imageName?.value);
  const network = needsNetwork(agent?.value ?? "");
  // Many tasks of one command share a provider, and with it what that has found out about its engine.
  const key = JSON.stringify([sandbox?.value, settings, network]);
  const provider =
    providers.get(key) ??
    entry
      .create(settings, { network })
      .catch((error) => Promise.reject(asConfigError(error, project, flags)));
  providers.set(key, provider);
  return provider;
};
