import { SandboxError, SandboxLostError } from "../../errors.ts";
import type { IsolatedSandboxHandle, SandboxCreateOptions } from "../contract.ts";
import { DeadlineWarning, withDeadlineWarning } from "../exec/deadlineWarning.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import type { SandboxAccess } from "../exec/sandboxAccess.ts";
import { sandboxTimes } from "../exec/sandboxTimes.ts";
import { KUBERNETES, type KubernetesPlace } from "./client.ts";
import { diagnosePod, type PodDiagnosis } from "./diagnosis.ts";
import type { KubernetesOptions } from "./options.ts";
import { writePlace } from "./place.ts";
import { FILES, HOME, podManifest, WORKTREE } from "./pod.ts";
import { podHandle, podLauncher } from "./podHandle.ts";
import { PROCESS_ID, removePod } from "./pods.ts";
import { startPod } from "./startPod.ts";

const DEFAULT_START_TIMEOUT_MS = 5 * 60 * 1000;
/** When fifty pods have started at once, their nodes are busy. */
const PREPARE_TIMEOUT_MS = 60_000;

const LONGER = "For a longer one, set `lifetimeMs`";

/** Makes the directories in which commands start. That also shows that commands can be run. */
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

/** Makes a pod, and the handle to work in it. No pod is left behind when that fails. */
export const createPodSandbox = async (
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
  return withDeadlineWarning(
    handle,
    new DeadlineWarning({ provider: KUBERNETES, atMs: madeAt + lifetimeMs, lifetimeMs, hint: LONGER }),
  );
};
