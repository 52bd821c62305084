import { SandboxError } from "../../errors.ts";
import type { SandboxCreateOptions, SandboxSnapshot } from "../contract.ts";
import { type ContainerPlan, containerRunArguments } from "./arguments.ts";
import {
  type ContainerEngine,
  callEngine,
  commandLineOf,
  IMAGE_IS_MISSING,
  unavailability,
} from "./engine.ts";
import { type AnyContainerOptions, capabilitiesOf, imageOf, networksOf } from "./options.ts";
import { imageIdOf } from "./snapshot.ts";
import { dropUntagged } from "./snapshotImages.ts";
import { askSocket } from "./socket/askSocket.ts";

const DEFAULT_PIDS = 4096;
const CLIENT_TIMEOUT_MS = 10_000;
const RUN_TIMEOUT_MS = 120_000;
const IS_GONE = /no such container|no container with name|removal of container .* is already in progress/i;

/** Whether the daemon itself has removed it. Its client takes longer to start than to remove it. */
const daemonRemoves = async (engine: ContainerEngine, container: string): Promise<boolean> => {
  const socketPath = engine.localSocket();
  if (socketPath === undefined) return false;
  const query = { force: "true", v: "true" };
  const path = ["containers", container];
  const answer = await askSocket(socketPath, { method: "DELETE", path, query }, CLIENT_TIMEOUT_MS);
  return answer?.status === 204;
};

/**
 * Removes a container within a limit; a missing one counts as removed. Rejects if it may still exist. `snapshot` names the
 * snapshot that it was started from: if that was removed, its image ends with its last container.
 */
export const removeContainer = async (
  engine: ContainerEngine,
  container: string,
  snapshot?: string,
): Promise<void> => {
  const left = (output: string, cause?: unknown) =>
    new SandboxError(
      engine.name,
      `the container ${container} could not be removed. Try: ${commandLineOf(engine)} rm --force ${container}`,
      output,
      { cause },
    );
  const orLeft = <A>(attempt: Promise<A>): Promise<A> =>
    attempt.catch((cause: unknown) => {
      throw left(String(cause), cause);
    });
  if (!(await orLeft(daemonRemoves(engine, container)))) {
    const args = [...engine.removeArguments, container];
    const removed = await orLeft(callEngine(engine, args, { timeoutMs: CLIENT_TIMEOUT_MS }));
    if (removed.exitCode !== 0 && !IS_GONE.test(removed.stderr)) throw left(removed.stderr);
  }
  if (snapshot !== undefined) await dropUntagged(engine, snapshot);
};

const missingSnapshot = (engine: ContainerEngine, snapshot: SandboxSnapshot | undefined, stderr: string) =>
  snapshot !== undefined && IMAGE_IS_MISSING.test(stderr)
    ? new SandboxError(engine.name, `the snapshot ${snapshot.name} does not exist any more`, stderr)
    : undefined;

/** The container's own details, besides the settings of its provider. */
type ContainerDetails = Pick<
  ContainerPlan,
  | "homePath"
  | "mounts"
  | "selinuxLabel"
  | "mountSetsLabels"
  | "overlayArguments"
  | "user"
  | "labels"
  | "lease"
>;

/** Starts a sandbox's container and connects its networks. Nothing is left behind when that fails or is aborted. */
export const startContainer = async (
  engine: ContainerEngine,
  settings: AnyContainerOptions,
  options: SandboxCreateOptions,
  details: ContainerDetails,
): Promise<void> => {
  const { repositoryPath, runId, sandboxName } = options;
  const { snapshot } = options;
  const image = snapshot === undefined ? imageOf(settings, repositoryPath) : imageIdOf(engine, snapshot);
  const [network, ...moreNetworks] = networksOf(settings);
  const args = containerRunArguments({
    sandboxName,
    runId,
    repositoryPath,
    image,
    ...details,
    user: { ...details.user, runArguments: [...engine.runArguments, ...details.user.runArguments] },
    network,
    memory: settings.memory,
    cpus: settings.cpus,
    pids: settings.pids ?? DEFAULT_PIDS,
    capabilities: capabilitiesOf(settings, options.usesSudo ?? false),
    extraArgs: settings.extraArgs ?? [],
  });
  options.signal?.throwIfAborted();
  try {
    // Without the signal: if the client is killed half-way, the daemon may create the container later.
    const started = await callEngine(engine, args, { timeoutMs: RUN_TIMEOUT_MS });
    if (started.exitCode !== 0) {
      throw (
        missingSnapshot(engine, snapshot, started.stderr) ??
        unavailability(engine, image, started.stderr) ??
        new SandboxError(engine.name, `the container ${sandboxName} could not be started`, started.stderr)
      );
    }
    for (const more of moreNetworks) {
      options.signal?.throwIfAborted();
      const connected = await callEngine(engine, ["network", "connect", more, sandboxName], {
        timeoutMs: CLIENT_TIMEOUT_MS,
      });
      if (connected.exitCode !== 0) {
        throw new SandboxError(engine.name, `the network ${more} could not be connected`, connected.stderr);
      }
    }
    options.signal?.throwIfAborted();
  } catch (error) {
    // A container that had the name before must not be removed.
    const isTaken = error instanceof SandboxError && /already in use/i.test(error.output);
    if (!isTaken) await removeContainer(engine, sandboxName, snapshot?.name).catch(() => {});
    throw error;
  }
};
