import { InvalidOptionsError } from "../../errors.ts";
import { describeProvider } from "../description/providerDescription.ts";
import { cpus, imageName, lifetimeMs, memory, user } from "../description/settings.ts";

/** `4g`, as Docker writes it, is `4Gi` in Kubernetes. */
const amountOf = (size: string): string => {
  const [, number, unit] = /^(\d+)([kmg])$/i.exec(size) ?? [];
  return unit === undefined ? size : `${number}${unit.toUpperCase()}i`;
};

export const kubernetes = describeProvider({
  name: "kubernetes",
  settings: {
    imageName,
    namespace: {
      flag: "--namespace <name>",
      help: "Kubernetes namespace of the pod (default: that of the context)",
      kind: "text",
    },
    context: {
      flag: "--context <name>",
      help: "context in the kubeconfig (default: the current one)",
      kind: "text",
    },
    memory,
    cpus,
    user,
    lifetimeMs,
  },
  create: async ({ memory: size, cpus: cores, user: id, ...settings }) => {
    if (id !== undefined && !/^\d+$/.test(id)) {
      throw new InvalidOptionsError("user", "kubernetes supports only the number of a user, e.g. 1000");
    }
    const limits = {
      ...(size !== undefined && { memory: amountOf(size) }),
      ...(cores !== undefined && { cpu: String(cores) }),
    };
    return (await import("../kubernetes.ts")).kubernetes({
      ...settings,
      ...(Object.keys(limits).length > 0 && { resources: { limits } }),
      ...(id !== undefined && { user: Number(id) }),
    });
  },
  leftovers: async () => (await import("./leftovers.ts")).podLeftovers,
  doctor: { trial: "kubectl get pods", isLocal: false },
});
