import { SandboxError, SandboxLostError } from "../errors.ts";
import { sharedAnswer } from "../process/sharedAnswer.ts";
import { isolatedCommandSandbox } from "./commandSandbox.ts";
import {
  createIsolatedSandboxProvider,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type SandboxCreateOptions,
} from "./contract.ts";
import { endInTime, LastCall } from "./endInTime.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { inTime } from "./inTime.ts";
import { killInSandbox } from "./killInSandbox.ts";
import { findPlace, KUBERNETES, type KubernetesPlace, placeArguments } from "./kubernetesClient.ts";
import { diagnosePod, type PodDiagnosis } from "./kubernetesDiagnosis.ts";
import { checkedKubernetesOptions, type KubernetesOptions } from "./kubernetesOptions.ts";
import { writePlace } from "./kubernetesPlace.ts";
import { CONTAINER, FILES, HOME, podManifest, RENEWAL, WORKTREE } from "./kubernetesPod.ts";
import { PROCESS_ID, removePod } from "./kubernetesPods.ts";
import { kubernetesPreflight } from "./kubernetesPreflight.ts";
import { startPod } from "./kubernetesStart.ts";
import { memoryKillExplainer } from "./memoryKills.ts";
import { NO_ROOT } from "./noRoot.ts";
import { askLaunch } from "./runLaunch.ts";
import type { LaunchOptions, SandboxAccess } from "./sandboxAccess.ts";
import { sandboxTimes } from "./sandboxTimes.ts";

export type { KubernetesAmounts, KubernetesOptions, KubernetesToleration } from "./kubernetesOptions.ts";

const DEFAULT_START_TIMEOUT_MS = 5 * 60 * 1000;
const ASK_TIMEOUT_MS = 20_000;
/** When fifty pods have started at once, their nodes are busy. */
const PREPARE_TIMEOUT_MS = 60_000;
/** A fleet checks the same cluster fifty times at once. */
const PREFLIGHT_FRESH_MS = 10_000;
/** Each of its questions has a shorter one. */
const PREFLIGHT_TIMEOUT_MS = 120_000;
/** After a power cut of its node, a command hangs for ever: three questions without an answer, and the sandbox is lost. */
const BEAT = { everyMs: 30_000, misses: 2, timeoutMs: 30_000 } as const;
/** So often at least is a lease renewed before it would be over. */
const RENEWALS = 3;

const LONGER = "For a longer one, set `lifetimeMs`";

const launcher =
  (place: KubernetesPlace, pod: string, isRoot: boolean): SandboxAccess["launch"] =>
  (argv: readonly string[], { sudo, terminal = false }: LaunchOptions) => {
    if (sudo && !isRoot) throw new SandboxError(KUBERNETES, NO_ROOT);
    const flags = ["--stdin", ...(terminal ? ["--tty"] : []), `--container=${CONTAINER}`];
    return { program: "kubectl", args: [...placeArguments(place), "exec", ...flags, pod, "--", ...argv] };
  };

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

const renew = async (launch: SandboxAccess["launch"], signal: AbortSignal): Promise<void> => {
  const { stdout } = await askLaunch(launch(RENEWAL.argv, { sudo: false }), {
    timeoutMs: ASK_TIMEOUT_MS,
    signal,
  });
  if (stdout !== RENEWAL.answer) throw new Error("its lease could not be renewed");
};

/** Renews the lease. What cannot be reached is asked about: a pod that is gone, or a node that is not ready, is no matter of patience. */
const heartbeatOf = (
  launch: SandboxAccess["launch"],
  diagnose: () => Promise<PodDiagnosis>,
  leaseMs: number,
): Heartbeat => ({
  everyMs: Math.min(BEAT.everyMs, leaseMs / RENEWALS),
  misses: BEAT.misses,
  timeoutMs: BEAT.timeoutMs,
  beat: async (signal) => {
    try {
      await renew(launch, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { problem, details, isLost } = await diagnose();
      if (isLost) throw new SandboxLostError(KUBERNETES, problem, details);
      throw new Error(`${problem} (${String(error)})`, { cause: error });
    }
  },
});

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
  const launch = launcher(place, pod, settings.user === 0);
  const diagnose = () => diagnosePod(place, pod);
  try {
    await prepare(pod, launch, diagnose, signal);
  } catch (error) {
    await removePod(place, pod).catch(() => {});
    throw error;
  }
  const handle = isolatedCommandSandbox({
    provider: KUBERNETES,
    name: pod,
    worktreePath: WORKTREE,
    fallbackHome: HOME,
    isRemote: true,
    launch,
    kill: killInSandbox(launch, { ownsProcessNamespace: true }),
    explainKill: memoryKillExplainer(launch, {
      limit: settings.resources?.limits?.["memory"],
      timeoutMs: ASK_TIMEOUT_MS,
    }),
    diagnose,
    heartbeat: heartbeatOf(launch, diagnose, leaseMs),
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
 * await run({ agent, sandbox: kubernetes({ namespace: "agents", image: "registry.example.com/app:1" }), prompt: "Fix issue 7" });
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
      await inTime(check(), { timeoutMs: PREFLIGHT_TIMEOUT_MS, signal });
    },
    create: async (createOptions) => {
      createOptions.signal?.throwIfAborted();
      return create(await place(), settings, createOptions);
    },
  });
};
