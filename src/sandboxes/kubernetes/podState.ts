import { CONTAINER, LEASE_EXIT_CODE } from "./pod.ts";

interface ContainerState {
  readonly running?: object;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string };
}

/** The part of a pod's state that is used here. */
export interface Pod {
  readonly metadata?: {
    readonly name?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type?: string;
      readonly status?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly containerStatuses?: readonly { readonly name?: string; readonly state?: ContainerState }[];
  };
}

/** The same of a node. */
export interface Node {
  readonly status?: { readonly conditions?: NonNullable<Pod["status"]>["conditions"] };
}

const containerOf = ({ status }: Pod): ContainerState =>
  status?.containerStatuses?.find(({ name }) => name === CONTAINER)?.state ?? {};

/** Trouble that goes away by itself at times: a registry that is busy, for instance. */
const MAY_PASS = /^(ErrImagePull|ImagePullBackOff|RegistryUnavailable)$/;
/** Reasons to wait that are no problem. */
const IN_ORDER = /^(ContainerCreating|PodInitializing)$/;

const colon = (first: string, second: string | undefined): string =>
  second === undefined || second.trim() === "" ? first : `${first}: ${second.trim()}`;

/** Of so many nodes the scheduler says that they are not meant for the pod, and not that they are full. */
const EXCLUDED = /(\d+) node\(s\) (?:didn't match|had (?:untolerated )?taint)/g;

/** Its words are all that the scheduler tells. */
const areAllExcluded = (message = ""): boolean => {
  const all = /^0\/(\d+) nodes are available/.exec(message)?.[1];
  const excluded = [...message.matchAll(EXCLUDED)].reduce((sum, [, count]) => sum + Number(count), 0);
  return all !== undefined && excluded === Number(all);
};

/** How far a pod has come on its way to run. */
export type PodStart =
  | { readonly is: "running" }
  | { readonly is: "waiting"; readonly for: string; readonly node?: string }
  /** There is no node for it now. `isExcluded`: none will do, however much room there should be. */
  | { readonly is: "unscheduled"; readonly for: string; readonly isExcluded: boolean }
  /** It will not run, or not soon. */
  | { readonly is: "failing"; readonly because: string; readonly mayPass: boolean };

const failing = (because: string, mayPass = false): PodStart => ({ is: "failing", because, mayPass });

export const startOf = (pod: Pod): PodStart => {
  const over = whyOver(pod);
  if (over !== undefined) return failing(over);
  const { running, waiting } = containerOf(pod);
  if (running !== undefined) return { is: "running" };
  const reason = waiting?.reason;
  if (reason !== undefined && !IN_ORDER.test(reason)) {
    return failing(colon(reason, waiting?.message), MAY_PASS.test(reason));
  }
  const scheduled = pod.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status === "False") {
    return {
      is: "unscheduled",
      for: colon("a node that it can run on", scheduled.message),
      isExcluded: areAllExcluded(scheduled.message),
    };
  }
  const node = pod.spec?.nodeName;
  return node === undefined
    ? { is: "waiting", for: "a node" }
    : { is: "waiting", for: `its container, on ${node}`, node };
};

/** Why a pod is over; `undefined` if it is not. */
export const whyOver = (pod: Pod): string | undefined => {
  const { phase, reason, message } = pod.status ?? {};
  const { terminated } = containerOf(pod);
  const where = pod.spec?.nodeName === undefined ? "" : ` on ${pod.spec.nodeName}`;
  if (pod.metadata?.deletionTimestamp !== undefined) return "its pod was deleted";
  if (reason === "Evicted") return colon(`its pod was evicted${where}`, message);
  if (reason === "DeadlineExceeded") return "its lifetime is over";
  if (terminated?.reason === "OOMKilled") return "its container ran out of memory";
  if (terminated?.exitCode === LEASE_EXIT_CODE) return "its lease expired, because nothing renewed it";
  if (terminated !== undefined) {
    const cause = terminated.reason === "Error" ? undefined : terminated.reason;
    return colon(
      `its container ended with exit code ${terminated.exitCode ?? "unknown"}`,
      terminated.message ?? cause,
    );
  }
  if (phase === "Failed" || phase === "Succeeded")
    return colon(`its pod has ended${where}`, message ?? reason);
  if (reason === "NodeLost" || phase === "Unknown") return `its node${where.replace(" on", "")} was lost`;
  return undefined;
};

/** Why a node cannot be counted on; `undefined` if it can. */
export const whyNotReady = (name: string, node: Node): string | undefined => {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return undefined;
  return colon(`its node ${name} is not ready`, ready.message ?? ready.reason);
};
