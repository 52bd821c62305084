import { InvalidOptionsError } from "../../errors.ts";
import type { SandboxSettings } from "../registry.ts";
import type { KubernetesOptions } from "./options.ts";

/** What docker writes as `4g` is `4Gi` in Kubernetes. */
const amountOf = (size: string): string => {
  const [, number, unit] = /^(\d+)([kmg])$/i.exec(size) ?? [];
  return unit === undefined ? size : `${number}${unit.toUpperCase()}i`;
};

/** What the settings say about pods. */
export const kubernetesOptionsOf = ({
  imageName,
  namespace,
  context,
  memory,
  cpus,
  user,
  lifetimeMs,
}: SandboxSettings): KubernetesOptions => {
  if (user !== undefined && !/^\d+$/.test(user)) {
    throw new InvalidOptionsError("user", "kubernetes knows only the number of a user, e.g. 1000");
  }
  const limits = {
    ...(memory !== undefined && { memory: amountOf(memory) }),
    ...(cpus !== undefined && { cpu: String(cpus) }),
  };
  return {
    imageName: imageName,
    namespace,
    context,
    ...(Object.keys(limits).length > 0 && { resources: { limits } }),
    ...(user !== undefined && { user: Number(user) }),
    ...(lifetimeMs !== undefined && { lifetimeMs }),
  };
};
