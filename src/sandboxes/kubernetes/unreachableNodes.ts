import type { KubernetesPlace } from "./client.ts";

/** Longer than a cluster takes to notice by itself that a node is gone: 40 or 50 seconds, unless somebody has changed that. */
export const DOUBT_MS = 2 * 60 * 1000;

/** By cluster and by node: until when it is doubted. */
const clusters = new Map<string, Map<string, number>>();

const doubtsIn = ({ kubeconfig, context }: KubernetesPlace): Map<string, number> => {
  const key = JSON.stringify([kubeconfig, context]);
  const doubts = clusters.get(key) ?? new Map<string, number>();
  clusters.set(key, doubts);
  return doubts;
};

/** A pod on this node could not be reached. This process knows it before the cluster does, which goes on using the node. */
export const doubtNode = (place: KubernetesPlace, node: string): void => {
  const doubts = doubtsIn(place);
  doubts.delete(node);
  doubts.set(node, performance.now() + DOUBT_MS);
};

/** The nodes of a cluster that new pods had better not be put on, the latest first. */
export const doubtedNodes = (place: KubernetesPlace): string[] => {
  const doubts = doubtsIn(place);
  for (const [node, until] of doubts) if (until < performance.now()) doubts.delete(node);
  return [...doubts.keys()].reverse();
};
