import { SANDBOX_VARIABLE } from "../process/processMarks.ts";
import type { SandboxMount } from "./contract.ts";

/**
 * What the container itself runs, as root, so that no command can end it by accident
 * (`kill -9 -1`). First it gives the user of the commands a name: programs fail for a uid that is not in /etc/passwd.
 */
const MAIN = `
if [ -n "$1" ] && ! grep -q "^[^:]*:[^:]*:$1:" /etc/passwd; then
  echo "sanddune:x:$1:$2::$3:/bin/sh" >>/etc/passwd
fi
while :; do sleep 3600; done
`;

/** Whom the commands in a container run as. */
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
  readonly image: string;
  readonly user: ContainerUser;
  /** HOME of a user whom the image does not know. */
  readonly homePath: string;
  /** In this order: later mounts lie over earlier ones. */
  readonly mounts: readonly SandboxMount[];
  readonly selinuxLabel: "z" | "Z" | false;
  /** The network to start with; the engine's default when it is left out. */
  readonly network: string | undefined;
  readonly memory: string | undefined;
  readonly cpus: number | undefined;
  readonly pids: number;
  readonly capabilities: readonly string[];
  readonly extraArgs: readonly string[];
}

/** One field of the comma-separated list that `--mount` takes. */
const field = (key: string, value: string): string => {
  const text = `${key}=${value}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const mountArguments = (
  { hostPath, sandboxPath, readOnly }: SandboxMount,
  selinuxLabel: "z" | "Z" | false,
): string[] => {
  if (selinuxLabel !== false) {
    // Docker's --mount has no SELinux labels; --volume has them in both engines.
    return ["--volume", `${hostPath}:${sandboxPath}:${readOnly ? "ro," : ""}${selinuxLabel}`];
  }
  const fields = [
    "type=bind",
    field("src", hostPath),
    field("dst", sandboxPath),
    ...(readOnly ? ["readonly"] : []),
  ];
  return ["--mount", fields.join(",")];
};

/** The arguments that start a sandbox's container, for any engine whose command line is Docker's. */
export const containerRunArguments = (plan: ContainerPlan): string[] => [
  "run",
  "--detach",
  // Reaps what commands leave behind, and ends at once when it is told to.
  "--init",
  "--pull",
  "never",
  "--name",
  plan.sandboxName,
  "--label",
  `sanddune.run=${plan.runId}`,
  "--label",
  `sanddune.repository=${plan.repositoryPath}`,
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
  ...plan.mounts.flatMap((mount) => mountArguments(mount, plan.selinuxLabel)),
  // An image's own working directory could be deleted by a command, and no other would start then.
  "--workdir",
  "/",
  "--no-healthcheck",
  ...plan.extraArgs,
  "--entrypoint",
  "sh",
  plan.image,
  "-c",
  MAIN,
  "sanddune",
  ...(/^\d+:\d+$/.test(plan.user.user) ? [...plan.user.user.split(":"), plan.homePath] : []),
];

/** The image that a repository's sandboxes use when none is named. */
export const defaultImage = (repositoryPath: string): string => {
  const directory = repositoryPath.split("/").filter(Boolean).at(-1) ?? "";
  const tag = directory
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 128);
  return `sanddune:${tag === "" ? "repository" : tag}`;
};
