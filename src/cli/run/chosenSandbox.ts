import { resolve } from "node:path";
import { needsNetwork } from "../../agents/registry.ts";
import { checkImageName } from "../../images/imageNames.ts";
import type { Project } from "../../project/findProject.ts";
import { isModulePath } from "../../project/modulePath.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { ProviderDescription } from "../../sandboxes/description/providerDescription.ts";
import { flagKeyOf, flagOf } from "../../sandboxes/description/settings.ts";
import { sandboxProviders, sandboxSettings } from "../../sandboxes/registry.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";
import { asConfigError, sandboxDefaults } from "../project/configured.ts";
import { configuredModule, loadProvider } from "../project/providerModule.ts";
import { requireTrust } from "../project/trust.ts";
import { UsageError } from "../shared/usageError.ts";
import { type Choices, lookUp, type Said } from "./runDefaults.ts";

type Offered = Required<Pick<ProviderDescription, "create">> & ProviderDescription;

const offered: Readonly<Record<string, Offered>> = Object.fromEntries(
  sandboxProviders
    .filter((provider): provider is Offered => provider.create !== undefined)
    .map((provider) => [provider.name, provider]),
);

/** The sandboxes of the command line. */
export const sandboxNames: readonly string[] = Object.keys(offered);

/** Values of settings, by the settings' names. */
type Settings = Readonly<Record<string, unknown>>;

/** The settings that flags give. */
const settingsIn = (flags: object): Settings =>
  withoutUndefined(
    Object.fromEntries(
      [...sandboxSettings].map(([name, setting]) => [name, Reflect.get(flags, flagKeyOf(setting))]),
    ),
  );

const refuseForeignFlags = (name: string, settings: object, given: Settings): void => {
  const foreign = Object.keys(given).find((setting) => !Object.hasOwn(settings, setting));
  const setting = foreign === undefined ? undefined : sandboxSettings.get(foreign);
  if (foreign === undefined || setting === undefined) return;
  const others = sandboxNames.filter((other) => Object.hasOwn(offered[other]?.settings ?? {}, foreign));
  const ways = others.map((other) => `--sandbox ${other}`).join(" or ");
  throw new UsageError(`${flagOf(setting)} does not apply to ${name}. Remove it, or use ${ways}`);
};

type Configured = Pick<Project, "config" | "configPath">;

/** The parts of a project that its sandboxes need. */
export type SandboxProject = Configured & Pick<Project, "configDirectory" | "gitDirectory">;

const providers = new Map<string, Promise<SandboxProvider>>();

/** A custom provider has its options in its module. */
const loadModule = async (said: Said, flags: object, project: SandboxProject) => {
  refuseForeignFlags(said.value, {}, settingsIn(flags));
  const path = said.isFlag ? resolve(said.value) : configuredModule(project);
  return loadProvider(path, said);
};

/** Makes the sandbox provider that was chosen. */
export const createSandboxProvider = async (
  { agent, sandbox, imageName }: Choices,
  flags: object,
  project: SandboxProject,
): Promise<SandboxProvider> => {
  await requireTrust(project);
  if (sandbox !== undefined && isModulePath(sandbox.value)) return loadModule(sandbox, flags, project);
  const provider = lookUp(offered, "--sandbox", sandbox);
  const given = settingsIn(flags);
  refuseForeignFlags(provider.name, provider.settings, given);
  const problem = imageName && checkImageName(imageName.value);
  if (imageName !== undefined && problem !== undefined) throw imageName.refuse(problem);
  const settings = {
    ...sandboxDefaults(project, provider),
    ...given,
    // The image of the config file applies to every provider with images.
    ...(imageName !== undefined && "imageName" in provider.settings && { imageName: imageName.value }),
  };
  const network = needsNetwork(agent?.value ?? "");
  // The tasks of one command share a provider, and with it what the provider knows about its engine.
  const key = JSON.stringify([provider.name, settings, network]);
  const made =
    providers.get(key) ??
    provider
      .create(settings, { network })
      .catch((error) => Promise.reject(asConfigError(error, project, flags)));
  providers.set(key, made);
  return made;
};
