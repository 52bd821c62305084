import { SandboxError, SandboxLostError } from "../../errors.ts";
import { pause } from "../../tools/wait/pause.ts";
import { retry } from "../../tools/wait/retry.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import { KUBERNETES, type KubernetesPlace } from "./client.ts";
import { nodeProblem } from "./diagnosis.ts";
import type { PodManifest } from "./pod.ts";
import { startOf } from "./podState.ts";
import { createPod, podCensus, podEvents, removePod } from "./pods.ts";
import { noteUnreachable, UNREACHABLE_MS, unreachableNodes } from "./unreachableNodes.ts";

const PAUSE_MS = 500;
/** How long trouble may last that goes away by itself at times. */
const PATIENCE_MS = 30_000;
/** How often the node of a pod is looked at that does not start. */
const NODE_MS = 15_000;
/** How often in a row the cluster may fail to answer. */
const MISSES = 3;
/** The question has a shorter one, but may have to wait for its turn. */
const CENSUS_TIMEOUT_MS = 60_000;

interface StartOptions {
  readonly startTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Awaited extends StartOptions {
  readonly name: string;
  /** From then on its time counts. */
  readonly begunAt: number;
  /** How long it may be without a node; as long as its time to start when it is left out. */
  readonly unscheduledMs?: number | undefined;
}

/** Waits for a pod that was just made. `"unscheduled"`: there is no node for it that it may be put on. */
const untilRunning = async (
  place: KubernetesPlace,
  { name, begunAt, startTimeoutMs, unscheduledMs, signal }: Awaited,
): Promise<"running" | "unscheduled"> => {
  const madeAt = performance.now();
  let nodeSeenAt = madeAt;
  let troubleSince: number | undefined;
  let misses = 0;
  const givenUp = async (problem: string) =>
    new SandboxError(KUBERNETES, `the pod ${name} ${problem}`, await podEvents(place, name));
  for (;;) {
    await pause(PAUSE_MS, signal);
    signal?.throwIfAborted();
    const asked = inTime(() => podCensus(place), { timeoutMs: CENSUS_TIMEOUT_MS, signal });
    const census = await asked.catch((error: unknown) => {
      signal?.throwIfAborted();
      misses++;
      if (misses >= MISSES) throw error;
      return undefined;
    });
    // An earlier answer may be about another pod of this name, or about none.
    if (census === undefined || census.askedAt < madeAt) continue;
    misses = 0;
    const pod = census.pods.get(name);
    if (pod === undefined) throw await givenUp("was deleted before it ran");
    const start = startOf(pod);
    if (start.is === "running") return "running";
    const now = performance.now();
    if (start.is === "failing") {
      troubleSince ??= now;
      if (!start.mayPass || now - troubleSince > PATIENCE_MS) {
        throw await givenUp(`does not start: ${start.because}`);
      }
    } else {
      troubleSince = undefined;
    }
    if (start.is === "waiting" && start.node !== undefined && now - nodeSeenAt > NODE_MS) {
      nodeSeenAt = now;
      const problem = await nodeProblem(place, start.node);
      if (problem !== undefined) {
        noteUnreachable(place, start.node);
        throw new SandboxLostError(KUBERNETES, problem);
      }
    }
    if (start.is === "unscheduled" && unscheduledMs !== undefined) {
      if (start.isExcluded || now - begunAt > unscheduledMs) return "unscheduled";
    }
    if (now - begunAt > startTimeoutMs) {
      const state = start.is === "failing" ? start.because : `it waits for ${start.for}`;
      throw await givenUp(`did not start within ${startTimeoutMs} ms: ${state}`);
    }
  }
};

const isTaken = (error: unknown): boolean =>
  error instanceof SandboxError && /\(AlreadyExists\)/.test(error.output);

/** Puts a pod in the place of one that was removed: its node may take a while to let it go. */
const createAnew = (
  place: KubernetesPlace,
  manifest: PodManifest,
  signal: AbortSignal | undefined,
): Promise<void> =>
  retry(() => createPod(place, manifest), {
    timeoutMs: PATIENCE_MS,
    signal,
    pauseAfter: (error) => (isTaken(error) ? PAUSE_MS : undefined),
  });

/** The nodes to avoid at each attempt. If no node is left, only the latest is avoided: it is the most likely to be gone. */
const avoidances = (unreachable: readonly string[]): readonly (readonly string[])[] =>
  [unreachable, unreachable.slice(0, 1), []].filter(
    ({ length }, index, all) => length !== all[index - 1]?.length,
  );

/** Starts a pod, if possible on a node that was reachable. A failure or an abort leaves nothing behind. */
export const startPod = async (
  place: KubernetesPlace,
  manifestFor: (avoidedNodes: readonly string[]) => PodManifest,
  options: StartOptions,
): Promise<void> => {
  options.signal?.throwIfAborted();
  const { name } = manifestFor([]).metadata;
  // After that time the cluster itself knows which nodes are gone. Half of the limit is left for the start.
  const patienceMs = Math.min(UNREACHABLE_MS, options.startTimeoutMs / 2);
  let begunAt: number | undefined;
  try {
    for (const avoidedNodes of avoidances(unreachableNodes(place))) {
      if (begunAt !== undefined) await removePod(place, name);
      const manifest = manifestFor(avoidedNodes);
      await (begunAt === undefined
        ? createPod(place, manifest)
        : createAnew(place, manifest, options.signal));
      begunAt ??= performance.now();
      const unscheduledMs = avoidedNodes.length > 0 ? patienceMs : undefined;
      if ((await untilRunning(place, { ...options, name, begunAt, unscheduledMs })) === "running") return;
    }
  } catch (error) {
    // A pod that had the name before must not be removed.
    if (begunAt !== undefined || !isTaken(error)) await removePod(place, name).catch(() => {});
    throw error;
  }
};
