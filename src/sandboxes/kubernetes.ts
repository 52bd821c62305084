import { sharedAnswer } from "../tools/wait/sharedAnswer.ts";
import { inTime } from "../tools/wait/timeLimit.ts";
import { createIsolatedSandboxProvider, type IsolatedSandboxProvider } from "./contract.ts";
import { findPlace, KUBERNETES } from "./kubernetes/client.ts";
import { checkedKubernetesOptions, type KubernetesOptions } from "./kubernetes/options.ts";
import { kubernetesPreflight } from "./kubernetes/preflight.ts";
import { createPodSandbox } from "./kubernetes/sandbox.ts";

export type { KubernetesAmounts, KubernetesOptions, KubernetesToleration } from "./kubernetes/options.ts";

/** A fleet checks the same cluster fifty times at once. */
const PREFLIGHT_FRESH_MS = 10_000;
/** Each of its requests has a shorter limit. */
const PREFLIGHT_TIMEOUT_MS = 120_000;

/**
 * Sandboxes that are pods of a Kubernetes cluster, one each, without capabilities and without a service account's token.
 * Needs `kubectl`, with a kubeconfig that may make pods and run commands in them. A pod ends by itself when the process that
 * made it has died.
 *
 * @example
 * await run({ agent, sandbox: kubernetes({ namespace: "agents", imageName: "registry.example.com/app:1" }), prompt: "Fix issue 7" });
 */
export const kubernetes = (options: KubernetesOptions = {}): IsolatedSandboxProvider => {
  const settings = checkedKubernetesOptions(options);
  const { kubeconfig, context, namespace, env, user } = settings;
  const place = sharedAnswer(Number.POSITIVE_INFINITY, () => findPlace({ kubeconfig, context, namespace }));
  const check = sharedAnswer(PREFLIGHT_FRESH_MS, async () => kubernetesPreflight(await place()));
  return createIsolatedSandboxProvider({
    name: KUBERNETES,
    ...(env && { env }),
    capabilities: { sudo: user === 0, networkPolicy: "none" },
    preflight: async ({ signal }) => {
      await inTime(check, { timeoutMs: PREFLIGHT_TIMEOUT_MS, signal });
    },
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      return createPodSandbox(await place(), settings, createOptions);
    },
  });
};
