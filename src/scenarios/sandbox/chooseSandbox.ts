import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { bindMountPlaces } from "./bindMountSandbox.ts";
import { hostPlaces } from "./hostSandbox.ts";
import { isolatedPlaces } from "./isolatedSandbox.ts";
import type { Workshop } from "./scenarioSandbox.ts";
import type { PlaceSettings } from "./settings.ts";

/** The places of one execution of a scenario: in sandboxes of a provider's, or on the host itself. */
export const sandboxWorkshop = (provider: SandboxProvider | "none", settings: PlaceSettings): Workshop => {
  if (provider === "none") return hostPlaces(settings);
  return provider.type === "bind-mount"
    ? bindMountPlaces(provider, settings)
    : isolatedPlaces(provider, settings);
};
