import type { KubernetesPlace } from "./client.ts";

/** Longer than a cluster needs to notice by itself that a node is gone: 40 to 50 seconds by default. */
export const UNREACHABLE_MS = 2 * 60 * 1000;

/** By cluster and by node: until when the node is avoided. */
const clusters = new Map<string, Map<string, number>>();

const nodesOf = ({ kubeconfig, context }: KubernetesPlace): Map<string, number> => {
  const key = JSON.stringify([kubeconfig, context]);
  const nodes = clusters.get(key) ?? new Map<string, number>();
  clusters.set(key, nodes);
  return nodes;
};

/** Notes that a pod on this node was unreachable. The cluster notices later, and schedules pods on the node until then. */
export const noteUnreachable = (place: KubernetesPlace, node: string): void => {
  const nodes = nodesOf(place);
  nodes.delete(node);
  nodes.set(node, performance.now() + UNREACHABLE_MS);
};

/** The nodes of a cluster on which no new pod should be scheduled, the latest first. */
export const unreachableNodes = (place: KubernetesPlace): string[] => {
  const nodes = nodesOf(place);
  for (const [node, until] of nodes) if (until < performance.now()) nodes.delete(node);
  return [...nodes.keys()].reverse();
};
