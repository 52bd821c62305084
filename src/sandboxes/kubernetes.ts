import { SandboxError, SandboxLostError } from "../errors.ts";
import { inTime } from "../tools/wait/inTime.ts";
import { sharedAnswer } from "../tools/wait/sharedAnswer.ts";
import {
  createIsolatedSandboxProvider,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type SandboxCreateOptions,
} from "./contract.ts";
import { endInTime, LastCall } from "./exec/endInTime.ts";
import { askLaunch } from "./exec/runLaunch.ts";
import type { SandboxAccess } from "./exec/sandboxAccess.ts";
import { sandboxTimes } from "./exec/sandboxTimes.ts";
import { findPlace, KUBERNETES, type KubernetesPlace } from "./kubernetes/client.ts";
import { diagnosePod, type PodDiagnosis } from "./kubernetes/diagnosis.ts";
import { checkedKubernetesOptions, type KubernetesOptions } from "./kubernetes/options.ts";
import { writePlace } from "./kubernetes/place.ts";
import { FILES, HOME, podManifest, WORKTREE } from "./kubernetes/pod.ts";
import { podHandle, podLauncher } from "./kubernetes/podHandle.ts";
import { PROCESS_ID, removePod } from "./kubernetes/pods.ts";
import { kubernetesPreflight } from "./kubernetes/preflight.ts";
import { startPod } from "./kubernetes/start.ts";

export type { KubernetesAmounts, KubernetesOptions, KubernetesToleration } from "./kubernetes/options.ts";

const DEFAULT_START_TIMEOUT_MS = 5 * 60 * 1000;
/** When fifty pods have started at once, their nodes are busy. */
const PREPARE_TIMEOUT_MS = 60_000;
/** A fleet checks the same cluster fifty times at once. */
const PREFLIGHT_FRESH_MS = 10_000;
/** Each of its questions has a shorter one. */
const PREFLIGHT_TIMEOUT_MS = 120_000;

const LONGER = "For a longer one, set `lifetimeMs`";

/** Makes the directories that commands start in. That there can be commands at all is shown by it. */
const prepare = async (
  pod: string,
  launch: SandboxAccess["launch"],
  diagnose: () => Promise<PodDiagnosis>,
  signal: AbortSignal | undefined,
): Promise<void> => {
  const script = `mkdir -p ${WORKTREE} ${HOME}; echo "ended with $?"`;
  const answer = await askLaunch(launch(["sh", "-c", script], { sudo: false }), {
    timeoutMs: PREPARE_TIMEOUT_MS,
    ...(signal && { signal }),
  }).catch(() => undefined);
  signal?.throwIfAborted();
  const exitCode = /^ended with (\d+)$/m.exec(answer?.stdout ?? "")?.[1];
  if (exitCode === "0") return;
  if (exitCode !== undefined) {
    throw new SandboxError(KUBERNETES, `the directories of the pod ${pod} could not be made in ${FILES}`);
  }
  const { problem, details } = await diagnose();
  throw new SandboxLostError(KUBERNETES, problem, details);
};

const create = async (
  place: KubernetesPlace,
  settings: KubernetesOptions,
  options: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { sandboxName: pod, signal } = options;
  options.onPlaced?.(writePlace(place));
  const madeAt = Date.now();
  const { lifetimeMs, leaseMs } = sandboxTimes(settings);
  const manifestFor = (avoidedNodes: readonly string[]) =>
    podManifest({ settings, options, processId: PROCESS_ID, avoidedNodes });
  await startPod(place, manifestFor, {
    startTimeoutMs: settings.startTimeoutMs ?? DEFAULT_START_TIMEOUT_MS,
    signal,
  });
  const launch = podLauncher(place, pod, settings.user === 0);
  const diagnose = () => diagnosePod(place, pod);
  try {
    await prepare(pod, launch, diagnose, signal);
  } catch (error) {
    await removePod(place, pod).catch(() => {});
    throw error;
  }
  const handle = podHandle(place, pod, {
    isRoot: settings.user === 0,
    leaseMs,
    memoryLimit: settings.resources?.limits?.["memory"],
    close: () => removePod(place, pod),
  });
  return endInTime(
    handle,
    new LastCall({ provider: KUBERNETES, atMs: madeAt + lifetimeMs, lifetimeMs, hint: LONGER }),
  );
};

/**
 * Sandboxes that are pods of a Kubernetes cluster, one each, without capabilities and without a service account's token.
 * `kubectl` has to be there, with a kubeconfig that may make pods and run commands in them. A pod whose process on this side
 * has died ends by itself.
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
      return create(await place(), settings, createOptions);
    },
  });
};
