import { SandboxError, SandboxLostError, SandboxUnavailableError } from "../../errors.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import type { LeftSandbox, SandboxLeftovers } from "../leftovers.ts";
import { KUBERNETES, type KubernetesPlace } from "./client.ts";
import { readPlace } from "./place.ts";
import { RUN_LABEL } from "./pod.ts";
import { type Pod, whyOver } from "./podState.ts";
import { readPod, removePod } from "./pods.ts";

/** Without a place, the run died before it made a pod. */
const placeOf = ({ sandboxName, place }: LeftSandbox): KubernetesPlace | undefined => {
  if (place === undefined) return undefined;
  const known = readPlace(place);
  if (known === undefined) {
    throw new SandboxError(
      KUBERNETES,
      `its journal does not name the cluster of the pod ${sandboxName}`,
      place,
    );
  }
  return known;
};

const otherKubeconfig = (): string =>
  `If the run had a kubeconfig of its own, name that one: KUBECONFIG=… ${sandduneCommand("clean")}`;

/** A pod belongs to this run only if its label says so: any pod may have that name. */
const findPod = async (sandbox: LeftSandbox): Promise<Pod | undefined> => {
  const place = placeOf(sandbox);
  if (place === undefined) return undefined;
  const pod = await readPod(place, sandbox.sandboxName).catch((error: unknown) => {
    if (!(error instanceof SandboxUnavailableError)) throw error;
    throw new SandboxUnavailableError(KUBERNETES, error.problem, `${error.hint}. ${otherKubeconfig()}`);
  });
  return pod?.metadata?.labels?.[RUN_LABEL] === sandbox.runId ? pod : undefined;
};

/** Pods of dead processes. Nothing can be fetched from a pod that has ended. */
export const podLeftovers: SandboxLeftovers = {
  holdsWork: async (sandbox) => {
    const pod = await findPod(sandbox);
    return pod !== undefined && whyOver(pod) === undefined;
  },
  find: async (sandbox) => {
    const pod = await findPod(sandbox);
    if (pod === undefined) return undefined;
    const { context, namespace } = placeOf(sandbox) ?? {};
    const where = [namespace, context].filter((part) => part !== undefined).join(" of ");
    return `pod ${sandbox.sandboxName}${where === "" ? "" : ` in ${where}`}`;
  },
  reopen: async (sandbox) => {
    const place = placeOf(sandbox);
    if (place === undefined || (await findPod(sandbox)) === undefined) {
      throw new SandboxLostError(KUBERNETES, "its pod no longer exists");
    }
    const { reopenPod } = await import("./podHandle.ts");
    return reopenPod(place, sandbox.sandboxName);
  },
  remove: async (sandbox) => {
    const place = placeOf(sandbox);
    if (place !== undefined) await removePod(place, sandbox.sandboxName);
  },
};
