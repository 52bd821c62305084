import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { InvalidOptionsError } from "../../errors.ts";
import { CONFIG_DIRECTORY_NAME } from "../../options/configDirectory.ts";
import type { SandboxMount } from "../contract.ts";
import { contains } from "./contains.ts";
import { repositoryData } from "./repositoryData.ts";

/** Sockets through which any process that can write to them controls the host. */
export const ENGINE_SOCKETS: readonly string[] = [
  "/var/run/docker.sock",
  "/run/docker.sock",
  "/run/podman/podman.sock",
  "/run/containerd/containerd.sock",
  "/run/crio/crio.sock",
];

/** Where Docker Desktop, Colima, OrbStack, Rancher Desktop and Podman's machine put theirs, below the home directory. */
const DESKTOP_SOCKETS: readonly string[] = [
  ".docker/run/docker.sock",
  ".docker/desktop/docker.sock",
  ".colima/default/docker.sock",
  ".orbstack/run/docker.sock",
  ".rd/docker.sock",
  ".local/share/containers/podman/machine/podman.sock",
];

const userSockets = (): string[] => {
  const uid = process.getuid?.() ?? 0;
  const runtimeDirectory = process.env["XDG_RUNTIME_DIR"] ?? `/run/user/${uid}`;
  const named = [process.env["DOCKER_HOST"], process.env["CONTAINER_HOST"]]
    .filter((address) => address?.startsWith("unix://"))
    .map((address) => (address as string).slice("unix://".length));
  return [
    join(runtimeDirectory, "docker.sock"),
    join(runtimeDirectory, "podman/podman.sock"),
    ...DESKTOP_SOCKETS.map((path) => join(homedir(), path)),
    ...named,
  ];
};

const realpathIfAny = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Compares texts, too: a socket that the engine has not made yet has no identity. */
const shows = async (hostPath: string, inner: string): Promise<boolean> => {
  const real = await realpathIfAny(inner);
  const prefix = hostPath.endsWith(sep) ? hostPath : hostPath + sep;
  return real === hostPath || real.startsWith(prefix) || contains(hostPath, real);
};

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Whether git would accept it as a git directory, whatever its name is. */
const isGitDirectory = async (path: string): Promise<boolean> =>
  (await Promise.all(["HEAD", "objects", "refs"].map((name) => exists(join(path, name))))).every(Boolean);

/** The git directory that contains a path, whatever its name is. A checkout inside one is not part of it. */
const gitDirectoryAround = async (path: string): Promise<string | undefined> => {
  const above = dirname(path);
  if (above === path || (await exists(join(above, ".git")))) return undefined;
  return (await isGitDirectory(above)) ? above : gitDirectoryAround(above);
};

type Mount = Pick<SandboxMount, "hostPath" | "readOnly">;

const homeProblem = async ({ hostPath }: Mount): Promise<string | undefined> =>
  (await shows(hostPath, homedir()))
    ? `${hostPath} would show the whole home directory, with its keys and credentials, to the sandbox. Mount the part that is needed`
    : undefined;

const socketProblem = async ({ hostPath }: Mount): Promise<string | undefined> => {
  for (const socket of [...ENGINE_SOCKETS, ...userSockets()]) {
    if (await shows(hostPath, socket)) {
      return `${hostPath} would give the sandbox the container engine's socket ${await realpathIfAny(socket)}, and with it control of the host`;
    }
  }
  return undefined;
};

/** Read-only mounts, too: git's configuration and the env file hold credentials that are not for agents. */
const repositoryProblem = async (
  { hostPath }: Mount,
  repositoryPath: string,
): Promise<string | undefined> => {
  for (const { path, what, isPrivate } of await repositoryData(repositoryPath)) {
    if ((await contains(hostPath, path)) || (isPrivate && (await contains(path, hostPath)))) {
      return `${hostPath} would show ${what} (${path}) to the sandbox. Mount the part that is needed: the worktree is in the sandbox anyway`;
    }
  }
  return undefined;
};

/** Names of directories that hold the data of some repository. */
const DATA_DIRECTORIES: readonly string[] = [".git", CONFIG_DIRECTORY_NAME];

/** On the host, git runs programs that a git directory names: hooks, filters, a file system monitor. */
const otherRepositoryProblem = async ({ hostPath, readOnly }: Mount): Promise<string | undefined> => {
  const inData =
    hostPath.split(sep).find((part) => DATA_DIRECTORIES.includes(part.toLowerCase())) ??
    (await gitDirectoryAround(hostPath));
  if (inData !== undefined) return `${hostPath} belongs to the data of a repository, ${inData}`;
  if (readOnly) return undefined;
  return (await exists(join(hostPath, ".git"))) || (await isGitDirectory(hostPath))
    ? `${hostPath} is a git repository, whose hooks and configuration the agent could write. Mount it read-only`
    : undefined;
};

/** Refuses a mount that would expose the host. `hostPath` has to be a real path. */
export const refuseUnsafeMount = async (
  option: string,
  mount: Mount,
  repositoryPath: string,
): Promise<void> => {
  const problem =
    (await homeProblem(mount)) ??
    (await socketProblem(mount)) ??
    (await repositoryProblem(mount, repositoryPath)) ??
    (await otherRepositoryProblem(mount));
  if (problem === undefined) return;
  throw new InvalidOptionsError(
    option,
    `${problem}. To mount it nevertheless, set \`allowUnsafeMounts: true\`.`,
  );
};
