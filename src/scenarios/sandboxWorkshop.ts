import type { SandboxProvider } from "../sandboxes/contract.ts";
import { bindMountPlaces } from "./places/bindMountPlaces.ts";
import { hostPlaces } from "./places/hostPlaces.ts";
import { isolatedPlaces } from "./places/isolatedPlaces.ts";
import type { PlaceSettings } from "./places/placeSettings.ts";
import type { Workshop } from "./workshop.ts";

/** The places of one execution of a scenario: in sandboxes of a provider's, or on the host itself. */
export const sandboxWorkshop = (provider: SandboxProvider | "none", settings: PlaceSettings): Workshop => {
  if (provider === "none") return hostPlaces(settings);
  return provider.type === "bind-mount"
    ? bindMountPlaces(provider, settings)
    : isolatedPlaces(provider, settings);
};
