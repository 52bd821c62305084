import type { EnvVars } from "../envVars.ts";
import { refuseOption, refuseUnknownOptions } from "./cloudOptions.ts";
import { checkedTimes, checkTime } from "./sandboxTimes.ts";

/** Amounts by the name of the resource, as Kubernetes writes them: `{ cpu: "2", memory: "4Gi" }`. */
export type KubernetesAmounts = Readonly<Record<string, string>>;

export interface KubernetesToleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

export interface KubernetesOptions {
  /** `sanddune:<name of the repository's directory>` when it is left out. It needs `sh`, `env`, `grep`, `tar` and git. */
  readonly image?: string;
  /** `IfNotPresent` when it is left out. */
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  /** Env vars for every command of a run. */
  readonly env?: EnvVars;
  /** A file; what `kubectl` uses by itself when it is left out. */
  readonly kubeconfig?: string;
  /** The current one when it is left out. */
  readonly context?: string;
  /** That of the context when it is left out. It has to exist. */
  readonly namespace?: string;
  readonly resources?: { readonly requests?: KubernetesAmounts; readonly limits?: KubernetesAmounts };
  /** Labels that a node has to have. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Taints of nodes that are no obstacle. */
  readonly tolerations?: readonly KubernetesToleration[];
  /** For instance `gvisor`, if the cluster has such a class. */
  readonly runtimeClassName?: string;
  /** The uid that commands run as; the image's user when it is left out. Only with 0 can hooks use `sudo`. */
  readonly user?: number;
  /** How long a sandbox may last at most; 24 hours when it is left out. */
  readonly lifetimeMs?: number;
  /** How long a sandbox outlives the process that made it, should that die; 10 minutes when it is left out. Not longer than `lifetimeMs`. */
  readonly leaseMs?: number;
  /** How long a pod may take to start: to be scheduled and to have its image pulled; 5 minutes when it is left out. */
  readonly startTimeoutMs?: number;
}

const OPTIONS = [
  ...["image", "imagePullPolicy", "env", "kubeconfig", "context", "namespace", "resources", "nodeSelector"],
  ...["tolerations", "runtimeClassName", "user", "lifetimeMs", "leaseMs", "startTimeoutMs"],
];
/** Shorter times would be over before anything could be done, and a cluster counts seconds in 31 bits. */
const LIMITS = { shortestMs: 10_000, longestMs: (2 ** 31 - 1) * 1000 } as const;

/** A label of the DNS, as Kubernetes wants it. */
export const isNamespace = (name: unknown): boolean =>
  typeof name === "string" && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name);

/** Says which option cannot be meant. What is left is the cluster's to judge. */
export const checkKubernetesOptions = (options: KubernetesOptions): void => {
  refuseUnknownOptions(options, OPTIONS);
  checkedTimes(options, LIMITS);
  const { user, namespace, startTimeoutMs } = options;
  if (startTimeoutMs !== undefined) checkTime("startTimeoutMs", startTimeoutMs, LIMITS);
  if (namespace !== undefined && !isNamespace(namespace)) {
    refuseOption("namespace", "must be the name of a namespace: small letters, digits and hyphens");
  }
  if (user !== undefined && !(Number.isInteger(user) && user >= 0)) {
    refuseOption("user", "must be the number of a user, e.g. 1000");
  }
};
