import { InvalidOptionsError } from "../../errors.ts";
import { text } from "../../options/checks/checks.ts";
import { absolutePaths } from "../../options/checks/sandboxSettings.ts";
import { describeProvider } from "../description/providerDescription.ts";
import { allowUnsafeMounts, mounts, network } from "../description/settings.ts";

/** Without a network no agent could reach its model. */
const sharesHostNetwork = (networks: readonly string[] | undefined, isNeeded: boolean): boolean => {
  if (networks === undefined) return isNeeded;
  const [name, ...others] = networks;
  if (others.length > 0 || (name !== "host" && name !== "none")) {
    throw new InvalidOptionsError(
      "network",
      'bubblewrap supports only "host", which is this machine\'s network, and "none"',
    );
  }
  return name === "host";
};

export const bubblewrap = describeProvider({
  name: "bubblewrap",
  settings: {
    network,
    mounts,
    allowUnsafeMounts,
    readOnlyPaths: {
      flag: "--read-only-path <dir>",
      help: "extra directory with programs for bubblewrap (repeatable)",
      kind: "texts",
      config: absolutePaths,
      needsTrust: () => true,
      isGeneral: true,
    },
    path: { flag: "--path <dirs>", help: "PATH in bubblewrap", kind: "text", config: text, isGeneral: true },
  },
  create: async ({ network: networks, ...settings }, needs) =>
    (await import("../bubblewrap.ts")).bubblewrap({
      ...settings,
      network: sharesHostNetwork(networks, needs.network),
    }),
  leftovers: async () => (await import("./directory.ts")).bubblewrapLeftovers,
  doctor: { trial: "bwrap --ro-bind / / true", isLocal: true },
});
