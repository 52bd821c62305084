import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import { defaultImage } from "../containers/arguments.ts";
import { capabilitiesOf } from "../containers/options.ts";
import type { SandboxCreateOptions } from "../contract.ts";
import { sandboxTimes } from "../exec/sandboxTimes.ts";
import { sandboxTags } from "../services/sandboxTags.ts";
import type { KubernetesOptions } from "./options.ts";

export const CONTAINER = "sandbox";
export const RUN_LABEL = "sanddune.dev/run";
/** Lets one request list all pods of a process. */
export const PROCESS_LABEL = "sanddune.dev/process";

/** A volume of the pod, writable by every user. */
export const FILES = "/sanddune";
export const WORKTREE = `${FILES}/repo`;
export const HOME = `${FILES}/home`;

export const imageOf = ({ imageName }: KubernetesOptions, repositoryPath: string): string =>
  imageName ?? defaultImage(repositoryPath);

/** The exit code of a pod whose lease expired. */
export const LEASE_EXIT_CODE = 86;

/** Renews a lease, and its answer: the client's exit code alone proves nothing. */
export const RENEWAL = { argv: ["sh", "-c", "kill -USR1 1 && echo renewed"], answer: "renewed\n" } as const;

const TICK_SECONDS = 5;

/**
 * The pod's main process. It ends when its lease of `$1` ticks is not renewed, so that a sandbox does not outlive its owner for
 * long, even if the owner was killed. A signal renews the lease, which works on a full disk, too. Ticks instead of a clock,
 * because a clock can be set.
 */
const MAIN = `
lease=$1
left=$lease
trap 'left=$lease' USR1
while [ "$left" -gt 0 ]; do
  left=$((left - 1))
  sleep ${TICK_SECONDS}
  [ $? -ne 127 ] || exit 127
done
exit ${LEASE_EXIT_CODE}
`;

export interface PodPlan {
  readonly settings: KubernetesOptions;
  readonly options: Pick<SandboxCreateOptions, "runId" | "sandboxName" | "repositoryPath" | "usesSudo">;
  /** Names this process among all that make pods. */
  readonly processId: string;
  /** Nodes on which it must not be scheduled. */
  readonly avoidedNodes?: readonly string[];
}

/** A preference is not enough: for the scheduler, it counts for more that a node without pods is idle. */
const awayFrom = (nodes: readonly string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      // By field, one name each: Kubernetes accepts nothing else, and a label may differ from the name.
      nodeSelectorTerms: [
        { matchFields: nodes.map((node) => ({ key: "metadata.name", operator: "NotIn", values: [node] })) },
      ],
    },
  },
});

/** The manifest of a sandbox's pod. It holds no env vars, because every user who may read pods can read it. */
export const podManifest = ({ settings, options, processId, avoidedNodes = [] }: PodPlan) => {
  const { runId, sandboxName, repositoryPath, usesSudo = false } = options;
  const { lifetimeMs, leaseMs } = sandboxTimes(settings);
  const { user, nodeSelector, tolerations, runtimeClassName } = settings;
  const { owner, expires } = sandboxTags(runId, lifetimeMs);
  const leaseTicks = Math.ceil(leaseMs / (TICK_SECONDS * 1000));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: sandboxName,
      labels: {
        "app.kubernetes.io/managed-by": "sanddune",
        [RUN_LABEL]: runId,
        [PROCESS_LABEL]: processId,
      },
      annotations: {
        "sanddune.dev/owner": owner,
        "sanddune.dev/expires": expires,
        "sanddune.dev/repository": repositoryPath,
      },
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds: Math.ceil(lifetimeMs / 1000),
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(avoidedNodes.length > 0 && { affinity: awayFrom(avoidedNodes) }),
      ...(runtimeClassName !== undefined && { runtimeClassName }),
      securityContext: {
        seccompProfile: { type: "RuntimeDefault" },
        ...(user !== undefined && { runAsUser: user, runAsNonRoot: user !== 0 }),
      },
      containers: [
        {
          name: CONTAINER,
          image: imageOf(settings, repositoryPath),
          imagePullPolicy: settings.imagePullPolicy ?? "IfNotPresent",
          command: ["sh", "-c", MAIN, "sanddune", String(leaseTicks)],
          // A command could delete the image's own working directory, and then no other command would start.
          workingDir: "/",
          env: [{ name: SANDBOX_VARIABLE, value: sandboxName }],
          ...(settings.resources && { resources: settings.resources }),
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"], add: capabilitiesOf({}, usesSudo) },
          },
          volumeMounts: [{ name: "files", mountPath: FILES }],
        },
      ],
      volumes: [{ name: "files", emptyDir: {} }],
    },
  };
};

export type PodManifest = ReturnType<typeof podManifest>;
