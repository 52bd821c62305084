import { SandboxError, SandboxLostError } from "../../errors.ts";
import type { LeftSandbox, LeftSnapshot, SandboxLeftovers } from "../leftovers.ts";
import { remoteEngine } from "../remote/remoteEngine.ts";
import { parseRemoteHost } from "../remote/remoteHost.ts";
import { dockerEngine } from "./dockerEngine.ts";
import { type ContainerEngine, callEngine, unavailability } from "./engine.ts";
import { podmanEngine } from "./podmanEngine.ts";
import { removeSnapshotImage } from "./snapshot.ts";
import { hasSnapshotImage, isSnapshotUsed, snapshotOf, snapshotTag } from "./snapshotImages.ts";
import { removeContainer } from "./startContainer.ts";
import { findUnlistedContainers } from "./unlistedContainers.ts";

const INSPECT_TIMEOUT_MS = 10_000;

/** A container belongs to this run only if its label says so: any container may have that name. */
const isContainerOf = async (
  engine: ContainerEngine,
  { sandboxName, runId }: LeftSandbox,
): Promise<boolean> => {
  const label = '{{index .Config.Labels "sanddune.run"}}';
  const { exitCode, stdout, stderr } = await callEngine(
    engine,
    ["container", "inspect", "--format", label, sandboxName],
    { timeoutMs: INSPECT_TIMEOUT_MS },
  );
  if (exitCode === 0) return stdout.trim() === runId;
  if (/no such container|no container with name/i.test(stderr)) return false;
  throw (
    unavailability(engine, "", stderr) ??
    new SandboxError(engine.name, `the container ${sandboxName} could not be looked up`, stderr)
  );
};

/** The engine of a container. A journal's place is believed only if it is an address and nothing else. */
const engineAt = (
  engine: ContainerEngine,
  { place, ...thing }: LeftSandbox | LeftSnapshot,
): ContainerEngine => {
  if (place === undefined) return engine;
  const host = parseRemoteHost(place);
  if (host !== undefined) return remoteEngine(engine, host);
  throw new SandboxError(
    engine.name,
    `the journal says that ${"name" in thing ? thing.name : thing.sandboxName} is at ${JSON.stringify(place)}, which is not the address of an engine`,
  );
};

/** Containers of an engine, on this machine and on others. */
const containerLeftovers = (engine: ContainerEngine): SandboxLeftovers => ({
  // The worktree of a container on this machine is on the host.
  holdsWork: async ({ place }) => place !== undefined,
  find: async (sandbox) => {
    const at = sandbox.place === undefined ? "" : ` at ${sandbox.place}`;
    return (await isContainerOf(engineAt(engine, sandbox), sandbox))
      ? `${engine.name} container ${sandbox.sandboxName}${at}`
      : undefined;
  },
  reopen: async (sandbox) => {
    const at = engineAt(engine, sandbox);
    if (!(await isContainerOf(at, sandbox))) {
      throw new SandboxLostError(engine.name, "its container no longer exists");
    }
    const { reopenContainer } = await import("../remote/remoteHandle.ts");
    return reopenContainer(at, sandbox.sandboxName);
  },
  remove: async (sandbox) => {
    const at = engineAt(engine, sandbox);
    await removeContainer(at, sandbox.sandboxName, await snapshotOf(at, sandbox.sandboxName));
  },
  findSnapshot: async (snapshot) => {
    const at = engineAt(engine, snapshot);
    const where = snapshot.place === undefined ? "" : ` at ${snapshot.place}`;
    return (await hasSnapshotImage(at, snapshot.name))
      ? `${engine.name} image ${snapshotTag(snapshot.name)}${where}`
      : undefined;
  },
  whySnapshotStays: async (snapshot) =>
    (await isSnapshotUsed(engineAt(engine, snapshot), snapshot.name))
      ? "a sandbox that was started from it still exists; it is removed with the last one"
      : undefined,
  removeSnapshot: async (snapshot) => removeSnapshotImage(engineAt(engine, snapshot), snapshot.name),
  findUnlisted: (checkouts, isListed) => findUnlistedContainers(engine, checkouts, isListed),
});

export const dockerLeftovers = containerLeftovers(dockerEngine);
export const podmanLeftovers = containerLeftovers(podmanEngine);
