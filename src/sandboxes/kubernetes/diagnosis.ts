import type { Diagnosis } from "../exec/sandboxAccess.ts";
import { callKubectl, type KubernetesPlace } from "./client.ts";
import { type Node, type Pod, whyNotReady, whyOver } from "./podState.ts";
import { readPod } from "./pods.ts";
import { noteUnreachable } from "./unreachableNodes.ts";

const TIMEOUT_MS = 5000;

/** Why a node is not ready, if it is known: not every user may read nodes. */
export const nodeProblem = async (place: KubernetesPlace, name: string): Promise<string | undefined> => {
  const read = await callKubectl(place, ["get", `node/${name}`, "--output", "json"], {
    timeoutMs: TIMEOUT_MS,
  }).catch(() => undefined);
  if (read === undefined) return undefined;
  if (read.exitCode === 0) return whyNotReady(name, JSON.parse(read.stdout) as Node);
  return /\(NotFound\)/.test(read.stderr) ? `its node ${name} no longer exists` : undefined;
};

const describe = ({ spec, status }: Pod): string =>
  `Pod on ${spec?.nodeName ?? "no node"}: ${JSON.stringify({ ...status, conditions: undefined })}`;

/** The state of a pod that does not answer. */
export interface PodDiagnosis extends Diagnosis {
  readonly isLost: boolean;
  /** The cluster has answered. */
  readonly isKnown: boolean;
}

/** Finds out why a pod does not answer. If the pod itself is not the cause, its node is avoided for a while. */
export const diagnosePod = async (place: KubernetesPlace, name: string): Promise<PodDiagnosis> => {
  try {
    const pod = await readPod(place, name, TIMEOUT_MS);
    if (pod === undefined)
      return { problem: "its pod no longer exists", details: "", isLost: true, isKnown: true };
    const details = describe(pod);
    const over = whyOver(pod);
    if (over !== undefined) return { problem: over, details, isLost: true, isKnown: true };
    const { nodeName } = pod.spec ?? {};
    if (nodeName !== undefined) noteUnreachable(place, nodeName);
    const ofNode = nodeName === undefined ? undefined : await nodeProblem(place, nodeName);
    if (ofNode !== undefined) return { problem: ofNode, details, isLost: true, isKnown: true };
    const where = nodeName === undefined ? "" : ` on ${nodeName}`;
    return {
      problem: `its pod${where} exists, but commands in it can no longer be reached`,
      details,
      isLost: false,
      isKnown: true,
    };
  } catch (error) {
    return {
      problem: "the cluster does not answer",
      details: String(error),
      isLost: false,
      isKnown: false,
    };
  }
};

/** Whether a pod may still have its files. On an unreachable node, a pod continues without the cluster. */
export const mayPodLive = async (place: KubernetesPlace, name: string): Promise<boolean> => {
  try {
    const pod = await readPod(place, name, TIMEOUT_MS);
    return pod !== undefined && whyOver(pod) === undefined;
  } catch {
    return true;
  }
};
