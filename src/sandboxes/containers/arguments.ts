import { InvalidOptionsError } from "../../errors.ts";
import { SANDBOX_VARIABLE } from "../../process/kill/processMarks.ts";
import type { OverlayLayers } from "../../process/overlay/layers.ts";
import type { SandboxMount } from "../contract.ts";

/** Gives the user of the commands a name: programs fail for a uid that is not in /etc/passwd. */
const NAME_USER = `
if [ -n "$1" ] && ! grep -q "^[^:]*:[^:]*:$1:" /etc/passwd; then
  echo "sanddune:x:$1:$2::$3:/bin/sh" >>/etc/passwd
fi
`;

/**
 * The container's main process, run as root with process id 1: the kernel lets no command in the container kill it, not even
 * root's `kill -9 -1`. With an init process (`--init`) it would have another id, and the container would end with it. A
 * waiting shell also reaps the processes that commands leave behind.
 */
const MAIN = `${NAME_USER}
while :; do sleep 3600; done
`;

/** sanddune's directory in a container on another machine; every user of the container may make directories in it. */
export const REMOTE_ROOT = "/sanddune";

/** Renews the lease of such a container when it is created. The agent cannot do that, unless it is root. */
export const RENEWAL_FILE = `${REMOTE_ROOT}/lease/renewed`;

/** How long a container stays without a renewal, and at most. */
export interface ContainerLease {
  readonly leaseMs: number;
  readonly lifetimeMs: number;
}

/** PATH for root: an image's own PATH may have directories that the agent can write to. */
const ROOT_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Root's shell, by its path, for the same reason. */
export const ROOT_SHELL = "/bin/sh";

/**
 * The main process of a container on another machine. It ends when its lease is not renewed: the engine there cannot know
 * that the process that made the container is dead. It needs no clock, so clocks need not agree.
 * Podman's root directory is not writable without a capability, but root owns it and can change its mode.
 */
const leasedMain = ({ leaseMs, lifetimeMs }: ContainerLease): string => `PATH=${ROOT_PATH}
${NAME_USER}
[ -w / ] || chmod u+w /
mkdir -p -m 1777 ${REMOTE_ROOT} && mkdir -p -m 755 ${REMOTE_ROOT}/lease && : >${RENEWAL_FILE} || exit 1
left=${Math.ceil(lifetimeMs / 1000)}
while [ "$left" -gt 0 ]; do
  pause=${Math.ceil(leaseMs / 2000)}
  [ "$left" -ge "$pause" ] || pause=$left
  sleep "$pause"
  left=$((left - pause))
  [ -e ${RENEWAL_FILE} ] || exit 0
  rm -f ${RENEWAL_FILE}
done
`;

/** The user of the commands in a container. */
export interface ContainerUser {
  /** `uid:gid`, or a name that the image knows. */
  readonly user: string;
  /** Arguments of `run` that the user's files on the host depend on. */
  readonly runArguments: readonly string[];
}

export interface ContainerPlan {
  readonly sandboxName: string;
  readonly runId: string;
  readonly repositoryPath: string;
  /** Besides those of every container, by name. */
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string;
  readonly user: ContainerUser;
  /** HOME of a user that the image does not know. */
  readonly homePath: string;
  /** In this order: later mounts lie over earlier ones. */
  readonly mounts: readonly SandboxMount[];
  /** Shared, private or none. */
  readonly selinuxLabel: "z" | "Z" | false;
  /** `--mount` of the engine sets SELinux labels. */
  readonly mountSetsLabels: boolean;
  /** The arguments of the engine that mount an overlay. */
  readonly overlayArguments: (mount: SandboxMount, layers: OverlayLayers) => string[];
  /** The network to start with; the engine's default when it is left out. */
  readonly network: string | undefined;
  readonly memory: string | undefined;
  readonly cpus: number | undefined;
  readonly pids: number;
  readonly capabilities: readonly string[];
  readonly extraArgs: readonly string[];
  /** For a container that ends and removes itself. */
  readonly lease?: ContainerLease;
}

/** One field of the comma-separated list that `--mount` takes. */
export const mountField = (key: string, value: string): string => {
  const text = `${key}=${value}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Docker's `--mount` has no SELinux labels, and its `--volume` no way to write a colon. */
const volumeArguments = ({ hostPath, sandboxPath, readOnly }: SandboxMount, label: "z" | "Z"): string[] => {
  const path = [hostPath, sandboxPath].find((candidate) => candidate.includes(":"));
  if (path !== undefined) {
    throw new InvalidOptionsError(
      "selinuxLabel",
      `docker cannot label ${path}, because there is a colon in it. Rename it, use podman, or set the label yourself, with chcon -R -t container_file_t, and leave \`selinuxLabel\` out`,
    );
  }
  return ["--volume", `${hostPath}:${sandboxPath}:${readOnly ? "ro," : ""}${label}`];
};

const RELABEL = { z: "relabel=shared", Z: "relabel=private" } as const;

export const mountArguments = (
  mount: SandboxMount,
  {
    selinuxLabel,
    mountSetsLabels,
    overlayArguments,
  }: Pick<ContainerPlan, "selinuxLabel" | "mountSetsLabels" | "overlayArguments">,
): string[] => {
  if (mount.overlay !== undefined)
    return overlayArguments(mount, { lowerPath: mount.hostPath, ...mount.overlay });
  if (selinuxLabel !== false && !mountSetsLabels) return volumeArguments(mount, selinuxLabel);
  const fields = [
    "type=bind",
    mountField("src", mount.hostPath),
    mountField("dst", mount.sandboxPath),
    ...(mount.readOnly ? ["readonly"] : []),
    ...(selinuxLabel === false ? [] : [RELABEL[selinuxLabel]]),
  ];
  return ["--mount", fields.join(",")];
};

/** The arguments that start a sandbox's container, for any engine whose command line is Docker's. */
export const containerRunArguments = (plan: ContainerPlan): string[] => [
  "run",
  "--detach",
  ...(plan.lease === undefined ? [] : ["--rm"]),
  "--pull",
  "never",
  "--name",
  plan.sandboxName,
  "--label",
  `sanddune.run=${plan.runId}`,
  "--label",
  `sanddune.repository=${plan.repositoryPath}`,
  ...Object.entries(plan.labels).flatMap(([name, value]) => ["--label", `sanddune.${name}=${value}`]),
  "--env",
  `${SANDBOX_VARIABLE}=${plan.sandboxName}`,
  "--cap-drop",
  "ALL",
  ...plan.capabilities.flatMap((capability) => ["--cap-add", capability]),
  "--security-opt",
  "no-new-privileges",
  "--pids-limit",
  String(plan.pids),
  ...(plan.memory === undefined ? [] : ["--memory", plan.memory, "--memory-swap", plan.memory]),
  ...(plan.cpus === undefined ? [] : ["--cpus", String(plan.cpus)]),
  ...(plan.network === undefined ? [] : ["--network", plan.network]),
  "--user",
  "0:0",
  ...plan.user.runArguments,
  ...plan.mounts.flatMap((mount) => mountArguments(mount, plan)),
  // A command could delete the image's own working directory, and then no other command would start.
  "--workdir",
  "/",
  "--no-healthcheck",
  ...plan.extraArgs,
  "--entrypoint",
  "sh",
  plan.image,
  "-c",
  plan.lease === undefined ? MAIN : leasedMain(plan.lease),
  "sanddune",
  ...(/^\d+:\d+$/.test(plan.user.user) ? [...plan.user.user.split(":"), plan.homePath] : []),
];

const OWN_IMAGES = "sanddune:";

/** Images of these names are built on this machine: no registry has them. */
export const isBuiltHere = (image: string): boolean => image.startsWith(OWN_IMAGES);

/** The image that a repository's sandboxes use when none is named. */
export const defaultImage = (repositoryPath: string): string => {
  const directory = repositoryPath.split("/").filter(Boolean).at(-1) ?? "";
  const tag = directory
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 128);
  return `${OWN_IMAGES}${tag === "" ? "repository" : tag}`;
};
