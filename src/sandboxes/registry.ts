import { bubblewrap } from "./bubblewrap/description.ts";
import { docker, podman } from "./containers/description.ts";
import type { ProviderDescription } from "./description/providerDescription.ts";
import type { SandboxSetting } from "./description/settings.ts";
import { e2b } from "./e2b/description.ts";
import { kubernetes } from "./kubernetes/description.ts";
import type { SandboxLeftovers } from "./leftovers.ts";
import { modal } from "./modal/description.ts";
import { testIsolated } from "./testIsolated/description.ts";
import { vercel } from "./vercel/description.ts";

/** The sandbox providers that sanddune knows by name. Flags, the project config, clean and doctor follow from this list. */
export const sandboxProviders: readonly ProviderDescription[] = [
  docker,
  podman,
  bubblewrap,
  e2b,
  vercel,
  modal,
  kubernetes,
  testIsolated,
];

export const findProvider = (name: string): ProviderDescription | undefined =>
  sandboxProviders.find((provider) => provider.name === name);

const allSettings = sandboxProviders.flatMap(({ settings }) => Object.entries(settings));

/** All settings by their names. What several providers have, the first of them describes. */
export const sandboxSettings: ReadonlyMap<string, SandboxSetting> = new Map(
  allSettings.filter(([name], index) => allSettings.findIndex(([other]) => other === name) === index),
);

const customLeftovers = new Map<string, SandboxLeftovers>();

/** Lets this process find the sandboxes of a custom provider, which the user has named by its module. */
export const addLeftovers = (provider: string, leftovers: SandboxLeftovers): void => {
  if (findProvider(provider) === undefined) customLeftovers.set(provider, leftovers);
};

/** The providers whose sandboxes can be found without the process that made them. */
export const providersWithLeftovers = (): readonly string[] => [
  ...sandboxProviders.map(({ name }) => name),
  ...customLeftovers.keys(),
];

/** How the sandboxes of a provider are found and removed; `undefined` for a provider that is not known. */
export const findLeftovers = async (provider: string): Promise<SandboxLeftovers | undefined> =>
  customLeftovers.get(provider) ?? findProvider(provider)?.leftovers();
