import type { Diagnosis } from "../exec/sandboxAccess.ts";
import { callKubectl, type KubernetesPlace } from "./client.ts";
import { type Node, type Pod, whyNotReady, whyOver } from "./podState.ts";
import { readPod } from "./pods.ts";
import { noteUnreachable } from "./unreachableNodes.ts";

const TIMEOUT_MS = 5000;

/** Why a node cannot be counted on, as far as that can be found out: not everybody may read nodes. */
export const nodeProblem = async (place: KubernetesPlace, name: string): Promise<string | undefined> => {
  const read = await callKubectl(place, ["get", `node/${name}`, "--output", "json"], {
    timeoutMs: TIMEOUT_MS,
  }).catch(() => undefined);
  if (read === undefined) return undefined;
  if (read.exitCode === 0) return whyNotReady(name, JSON.parse(read.stdout) as Node);
  return /\(NotFound\)/.test(read.stderr) ? `its node ${name} does not exist any more` : undefined;
};

const describe = ({ spec, status }: Pod): string =>
  `Pod on ${spec?.nodeName ?? "no node"}: ${JSON.stringify({ ...status, conditions: undefined })}`;

/** What became of a pod, and whether that is beyond doubt. */
export interface PodDiagnosis extends Diagnosis {
  readonly isLost: boolean;
  /** The cluster has answered. */
  readonly isKnown: boolean;
}

/** Finds out what became of a pod that does not answer. If it is none of the pod's own doing, its node is doubted from now on. */
export const diagnosePod = async (place: KubernetesPlace, name: string): Promise<PodDiagnosis> => {
  try {
    const pod = await readPod(place, name, TIMEOUT_MS);
    if (pod === undefined)
      return { problem: "its pod does not exist any more", details: "", isLost: true, isKnown: true };
    const details = describe(pod);
    const over = whyOver(pod);
    if (over !== undefined) return { problem: over, details, isLost: true, isKnown: true };
    const { nodeName } = pod.spec ?? {};
    if (nodeName !== undefined) noteUnreachable(place, nodeName);
    const ofNode = nodeName === undefined ? undefined : await nodeProblem(place, nodeName);
    if (ofNode !== undefined) return { problem: ofNode, details, isLost: true, isKnown: true };
    const where = nodeName === undefined ? "" : ` on ${nodeName}`;
    return {
      problem: `its pod${where} is there, but commands in it cannot be reached any more`,
      details,
      isLost: false,
      isKnown: true,
    };
  } catch (error) {
    return {
      problem: "the cluster cannot be asked about it",
      details: String(error),
      isLost: false,
      isKnown: false,
    };
  }
};

/** Whether a pod may still have its files. One whose node cannot be reached goes on there without the cluster. */
export const mayPodLive = async (place: KubernetesPlace, name: string): Promise<boolean> => {
  try {
    const pod = await readPod(place, name, TIMEOUT_MS);
    return pod !== undefined && whyOver(pod) === undefined;
  } catch {
    return true;
  }
};
