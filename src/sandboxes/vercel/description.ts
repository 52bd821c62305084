import { describeProvider } from "../description/providerDescription.ts";
import { cpus, imageName, lifetimeMs, network } from "../description/settings.ts";
import { cloudNetworkOf } from "../services/networkSetting.ts";

export const vercel = describeProvider({
  name: "vercel",
  settings: { imageName, network, cpus: { ...cpus, option: "vcpus" }, lifetimeMs },
  create: async ({ cpus: vcpus, network: networks, ...settings }) =>
    (await import("../vercel.ts")).vercel({
      ...settings,
      vcpus,
      network: cloudNetworkOf("vercel", networks),
    }),
  leftovers: async () => (await import("./leftovers.ts")).vercelLeftovers,
  doctor: { trial: "curl --head https://vercel.com/api", isLocal: false },
});
