import { describeProvider } from "../description/providerDescription.ts";
import { imageName, lifetimeMs, network } from "../description/settings.ts";
import { cloudNetworkOf } from "../services/networkSetting.ts";

export const e2b = describeProvider({
  name: "e2b",
  settings: { imageName: { ...imageName, option: "template" }, network, lifetimeMs },
  create: async ({ imageName: template, network: networks, ...settings }) =>
    (await import("../e2b.ts")).e2b({ ...settings, template, network: cloudNetworkOf("e2b", networks) }),
  leftovers: async () => (await import("./leftovers.ts")).e2bLeftovers,
  doctor: { trial: "curl --head https://api.e2b.app", isLocal: false },
});
