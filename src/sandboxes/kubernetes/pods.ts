import { randomBytes } from "node:crypto";
import { SandboxError, SandboxUnavailableError } from "../../errors.ts";
import { sharedAnswer } from "../../tools/wait/sharedAnswer.ts";
import { callKubectl, complaint, KUBERNETES, type KubernetesPlace, kubectlLine } from "./client.ts";
import { type PodManifest, PROCESS_LABEL } from "./pod.ts";
import type { Pod } from "./podState.ts";

/** Names this process among all that make pods in a cluster. */
export const PROCESS_ID = randomBytes(8).toString("hex");

const isMissing = (stderr: string): boolean => /\(NotFound\)/.test(stderr);

/** Makes a pod. Not given a signal: a client that is killed half-way may leave a server that makes it all the same. */
export const createPod = async (place: KubernetesPlace, manifest: PodManifest): Promise<void> => {
  const { name } = manifest.metadata;
  const created = await callKubectl(
    place,
    ["create", "--filename", "-", "--validate=false", "--output", "name"],
    {
      stdin: JSON.stringify(manifest),
    },
  );
  if (created.exitCode !== 0) throw complaint(place, `the pod ${name} could not be made`, created.stderr);
};

/** Asks about one pod; `undefined` if there is none of that name. */
export const readPod = async (
  place: KubernetesPlace,
  name: string,
  timeoutMs?: number,
): Promise<Pod | undefined> => {
  const read = await callKubectl(place, ["get", "pod", name, "--output", "json"], {
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  if (read.exitCode === 0) return JSON.parse(read.stdout) as Pod;
  if (isMissing(read.stderr) && !/namespaces/.test(read.stderr)) return undefined;
  throw complaint(place, `the pod ${name} could not be looked up`, read.stderr);
};

/** All pods of this process, as they were at some moment. */
export interface PodCensus {
  /** When the question was asked: later pods may be missing. */
  readonly askedAt: number;
  readonly pods: ReadonlyMap<string, Pod>;
}

const takeCensus = async (place: KubernetesPlace): Promise<PodCensus> => {
  const askedAt = performance.now();
  const selector = `${PROCESS_LABEL}=${PROCESS_ID}`;
  const listed = await callKubectl(place, ["get", "pods", "--selector", selector, "--output", "json"]);
  if (listed.exitCode !== 0) throw complaint(place, "its pods could not be listed", listed.stderr);
  const { items } = JSON.parse(listed.stdout) as { readonly items: readonly Pod[] };
  return { askedAt, pods: new Map(items.map((pod) => [pod.metadata?.name ?? "", pod])) };
};

/** How old an answer may be that is passed on to others. */
const FRESH_MS = 500;

const censuses = new Map<string, () => Promise<PodCensus>>();

/** Asks about all pods of this process, by one client at a time, however many sandboxes are waited for. */
export const podCensus = (place: KubernetesPlace): Promise<PodCensus> => {
  const key = JSON.stringify(place);
  const census = censuses.get(key) ?? sharedAnswer(FRESH_MS, () => takeCensus(place));
  censuses.set(key, census);
  return census();
};

/** Removes a pod, in bounded time; one that is not there counts as removed. Rejects if it may still be there. */
export const removePod = async (place: KubernetesPlace, name: string): Promise<void> => {
  const left = (output: string, cause?: unknown) =>
    new SandboxError(
      KUBERNETES,
      `the pod ${name} could not be deleted. Try: ${kubectlLine(place, "delete", "pod", name)}`,
      output,
      { cause },
    );
  const removed = await callKubectl(place, [
    "delete",
    "pod",
    name,
    "--ignore-not-found",
    "--wait=false",
  ]).catch((cause: unknown) => {
    throw left(cause instanceof SandboxUnavailableError ? cause.problem : String(cause), cause);
  });
  if (removed.exitCode !== 0) throw left(removed.stderr);
};

const EVENTS_TIMEOUT_MS = 5000;

/** The cluster's events about a pod, the newest last; none if the user may not read them. */
export const podEvents = async (place: KubernetesPlace, name: string): Promise<string> => {
  const format = 'jsonpath={range .items[*]}{.reason}{": "}{.message}{"\\n"}{end}';
  const listed = await callKubectl(
    place,
    [
      "get",
      "events",
      `--field-selector=involvedObject.name=${name}`,
      "--sort-by=.lastTimestamp",
      "--output",
      format,
    ],
    { timeoutMs: EVENTS_TIMEOUT_MS },
  ).catch(() => undefined);
  return listed?.exitCode === 0 ? listed.stdout.trim().split("\n").slice(-10).join("\n") : "";
};
