import { describeProvider } from "../description/providerDescription.ts";
import { cpus, imageName, lifetimeMs, memory, network } from "../description/settings.ts";
import { cloudNetworkOf } from "../services/networkSetting.ts";

export const modal = describeProvider({
  name: "modal",
  settings: { imageName, network, cpus, memory, lifetimeMs },
  create: async ({ network: networks, ...settings }) =>
    (await import("../modal.ts")).modal({ ...settings, network: cloudNetworkOf("modal", networks) }),
  leftovers: async () => (await import("./leftovers.ts")).modalLeftovers,
  doctor: { trial: "curl --head https://api.modal.com", isLocal: false },
});
