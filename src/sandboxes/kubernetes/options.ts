import {
  anyText,
  type Check,
  type Checks,
  checkedOptions,
  countOrNone,
  listOf,
  nested,
  oneOf,
  text,
  textByName,
} from "../../options/checks/checks.ts";
import { env } from "../../options/checks/envVars.ts";
import type { EnvVars } from "../../options/envVars.ts";
import { consistentTimes, timeWithin } from "../exec/sandboxTimes.ts";

/** Amounts by the name of the resource, as Kubernetes writes them: `{ cpu: "2", memory: "4Gi" }`. */
export type KubernetesAmounts = Readonly<Record<string, string>>;

/** A toleration, as a pod's spec has it. */
export interface KubernetesToleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

/** The options of `kubernetes()`. */
export interface KubernetesOptions {
  /** `sanddune:<name of the repository's directory>` when it is left out. It needs `sh`, `env`, `grep`, `tar` and git. */
  readonly imageName?: string;
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
  /** The pod's resource requests and limits. The namespace's defaults when it is left out. */
  readonly resources?: {
    /** Resources that the node must have free. */
    readonly requests?: KubernetesAmounts;
    /** Resources that the sandbox may use at most. */
    readonly limits?: KubernetesAmounts;
  };
  /** Labels that a node has to have. */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Taints of nodes that the pod tolerates. */
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

/** Shorter times would be over before anything could be done, and a cluster counts seconds in 31 bits. */
const LIMITS = { shortestMs: 10_000, longestMs: (2 ** 31 - 1) * 1000 } as const;

/** A label of the DNS, as Kubernetes wants it. */
export const isNamespace = (name: unknown): boolean =>
  typeof name === "string" && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name);

const namespace: Check = (value) =>
  isNamespace(value) ? undefined : "must be the name of a namespace: small letters, digits and hyphens";
const user: Check = (value) =>
  countOrNone(value) === undefined ? undefined : "must be the number of a user, e.g. 1000";
const time = timeWithin(LIMITS);

const TOLERATION: Checks<KubernetesToleration> = {
  key: anyText,
  operator: oneOf(["Exists", "Equal"]),
  value: anyText,
  effect: oneOf(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  tolerationSeconds: countOrNone,
};

const OPTIONS: Checks<KubernetesOptions> = {
  imageName: text,
  imagePullPolicy: oneOf(["Always", "IfNotPresent", "Never"]),
  env,
  kubeconfig: text,
  context: text,
  namespace,
  resources: nested("resources", { requests: textByName, limits: textByName }),
  nodeSelector: textByName,
  tolerations: listOf("tolerations", TOLERATION),
  runtimeClassName: text,
  user,
  lifetimeMs: time,
  leaseMs: time,
  startTimeoutMs: time,
};

/** Checks the options of `kubernetes()`. Everything else about them is for the cluster to judge. */
export const checkedKubernetesOptions = (options: KubernetesOptions): KubernetesOptions => {
  const settings = checkedOptions(options, OPTIONS);
  consistentTimes(settings);
  return settings;
};
