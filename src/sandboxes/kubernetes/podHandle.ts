import { SandboxError, SandboxLostError } from "../../errors.ts";
import { COMMANDS_ENDED, endCommandsArguments } from "../../process/kill/endCommands.ts";
import { memoryKillExplainer } from "../containers/memoryKills.ts";
import type { IsolatedSandboxHandle } from "../contract.ts";
import { isolatedCommandSandbox } from "../exec/commandSandbox.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import { killInSandbox } from "../exec/killInSandbox.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import type { LaunchOptions, SandboxAccess } from "../exec/sandboxAccess.ts";
import { NO_ROOT } from "../handle/noRoot.ts";
import { attachable } from "../relay/attachedTransport.ts";
import { type Outage, Reachability } from "../relay/reachability.ts";
import { KUBERNETES, type KubernetesPlace, placeArguments } from "./client.ts";
import { diagnosePod, mayPodLive, type PodDiagnosis } from "./diagnosis.ts";
import { CONTAINER, HOME, RENEWAL, WORKTREE } from "./pod.ts";

const ASK_TIMEOUT_MS = 20_000;
/** After a power cut of its node, a command hangs for ever: after three beats without an answer, the sandbox is lost. */
const BEAT = { everyMs: 30_000, misses: 2, timeoutMs: 30_000 } as const;
/** Renewals within one lease. */
const RENEWALS = 3;
/** How long a pod may be unreachable while the cluster lists it: its node's daemon may be restarting. */
const POD_OUTAGE_MS = 6000;
/** How long a cluster may not answer at all, during an upgrade for instance; half a lease, if that is shorter. */
const CLUSTER_OUTAGE_MS = 5 * 60_000;

/** How commands are run in a pod. */
export const podLauncher =
  (place: KubernetesPlace, pod: string, isRoot: boolean): SandboxAccess["launch"] =>
  (argv: readonly string[], { sudo, terminal = false }: LaunchOptions) => {
    if (sudo && !isRoot) throw new SandboxError(KUBERNETES, NO_ROOT);
    const flags = ["--stdin", ...(terminal ? ["--tty"] : []), `--container=${CONTAINER}`];
    return { program: "kubectl", args: [...placeArguments(place), "exec", ...flags, pod, "--", ...argv] };
  };

const renew = async (launch: SandboxAccess["launch"], signal: AbortSignal): Promise<void> => {
  const { stdout } = await askLaunch(launch(RENEWAL.argv, { sudo: false }), {
    timeoutMs: ASK_TIMEOUT_MS,
    signal,
  });
  if (stdout !== RENEWAL.answer) throw new Error("its lease could not be renewed");
};

/** Why a pod is unreachable, and how long to wait for it. */
const outageOf = async (diagnose: () => Promise<PodDiagnosis>, leaseMs: number): Promise<Outage> => {
  const { problem, isLost, isKnown } = await diagnose();
  if (isLost) return { problem, patienceMs: 0 };
  return { problem, patienceMs: isKnown ? POD_OUTAGE_MS : Math.min(CLUSTER_OUTAGE_MS, leaseMs / 2) };
};

/**
 * Renews the lease. If that fails, the cluster is asked: a missing pod or a node that is not ready ends the sandbox at once. A
 * cluster that does not answer says nothing about its pods, which continue.
 */
const heartbeatOf = (
  launch: SandboxAccess["launch"],
  diagnose: () => Promise<PodDiagnosis>,
  leaseMs: number,
): Heartbeat => {
  const everyMs = Math.min(BEAT.everyMs, leaseMs / RENEWALS);
  let missed = 0;
  let lastAnswerAt = performance.now();
  return {
    everyMs,
    // An upper limit: `beat` itself decides earlier.
    misses: Math.ceil(CLUSTER_OUTAGE_MS / everyMs) + BEAT.misses,
    timeoutMs: BEAT.timeoutMs,
    beat: async (signal) => {
      try {
        await renew(launch, signal);
        missed = 0;
        lastAnswerAt = performance.now();
      } catch (error) {
        const { problem, details, isLost, isKnown } = await diagnose();
        missed = isKnown ? missed + 1 : missed;
        if (isKnown) lastAnswerAt = performance.now();
        const silentMs = performance.now() - lastAnswerAt;
        const isOver = missed > BEAT.misses || silentMs > Math.min(CLUSTER_OUTAGE_MS, leaseMs / 2);
        if (isLost || isOver) throw new SandboxLostError(KUBERNETES, problem, `${details}\n${error}`);
        throw new Error(`${problem} (${String(error)})`, { cause: error });
      }
    },
  };
};

/** The facts about a running pod. */
export interface RunningPod {
  readonly isRoot: boolean;
  readonly leaseMs: number;
  readonly memoryLimit?: string | undefined;
  close(): Promise<void>;
}

/** The sandbox handle of a pod that runs. */
export const podHandle = (
  place: KubernetesPlace,
  pod: string,
  { isRoot, leaseMs, memoryLimit, close }: RunningPod,
): IsolatedSandboxHandle => {
  const launch = podLauncher(place, pod, isRoot);
  const diagnose = () => diagnosePod(place, pod);
  const reach = new Reachability(launch, () => outageOf(diagnose, leaseMs));
  return isolatedCommandSandbox({
    provider: KUBERNETES,
    name: pod,
    worktreePath: WORKTREE,
    fallbackHome: HOME,
    isRemote: true,
    launch: attachable(launch, reach),
    reach,
    kill: killInSandbox(launch, { ownsProcessNamespace: true, reach }),
    explainKill: memoryKillExplainer(launch, { limit: memoryLimit, timeoutMs: ASK_TIMEOUT_MS }),
    diagnose,
    heartbeat: heartbeatOf(launch, diagnose, leaseMs),
    leave: () => mayPodLive(place, pod),
    close,
  });
};

/** The shortest possible lease, assumed for a pod whose settings are unknown. */
const SHORTEST_LEASE_MS = 10_000;

/** Reopens a lost pod, and kills its commands, so that files do not change. Closing keeps the pod. */
export const reopenPod = async (place: KubernetesPlace, pod: string): Promise<IsolatedSandboxHandle> => {
  const { stdout } = await askLaunch(podLauncher(place, pod, false)(endCommandsArguments, { sudo: false }), {
    timeoutMs: ASK_TIMEOUT_MS,
  }).catch(() => ({ stdout: "" }));
  if (stdout !== COMMANDS_ENDED) {
    const { problem, details } = await diagnosePod(place, pod);
    throw new SandboxLostError(KUBERNETES, problem, details);
  }
  return podHandle(place, pod, { isRoot: false, leaseMs: SHORTEST_LEASE_MS, close: async () => {} });
};
