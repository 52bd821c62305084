import { existsSync } from "node:fs";
import { SandboxError } from "../errors.ts";
import { removeDirectory } from "../process/removeDirectory.ts";
import { type ContainerEngine, callEngine, unavailability } from "./containerEngine.ts";
import { dockerEngine } from "./dockerEngine.ts";
import { podmanEngine } from "./podmanEngine.ts";
import { bubblewrapDirectory, removeTestIsolated, testIsolatedDirectory } from "./sandboxDirectories.ts";
import { removeContainer } from "./startContainer.ts";

/** A sandbox whose process died before it could be closed, as its run's journal names it. */
export interface LeftSandbox {
  readonly sandboxName: string;
  readonly runId: string;
  /** Where the run had its temporary files. */
  readonly temporaryDirectory: string;
}

/** How sandboxes of one provider are found and removed without the handle that made them. */
export interface SandboxLeftovers {
  /** The agent's files are in the sandbox and nowhere else. */
  readonly holdsWork: boolean;
  /** What is left of the sandbox, in words; `undefined` if nothing is. Rejects if that cannot be found out. */
  find(sandbox: LeftSandbox): Promise<string | undefined>;
  /** Removes what `find` finds. */
  remove(sandbox: LeftSandbox): Promise<void>;
}

const INSPECT_TIMEOUT_MS = 10_000;

/** A container is this run's only if its label says so: anybody can give a container that name. */
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
    new SandboxError(engine.name, `it cannot be asked about the container ${sandboxName}`, stderr)
  );
};

const containers = (engine: ContainerEngine): SandboxLeftovers => ({
  holdsWork: false,
  find: async (sandbox) =>
    (await isContainerOf(engine, sandbox)) ? `${engine.name} container ${sandbox.sandboxName}` : undefined,
  remove: ({ sandboxName }) => removeContainer(engine, sandboxName),
});

const directories = (
  holdsWork: boolean,
  pathOf: (temporaryDirectory: string, sandboxName: string) => string,
  remove: (directory: string) => Promise<void>,
): SandboxLeftovers => {
  const directoryOf = ({ temporaryDirectory, sandboxName }: LeftSandbox) =>
    pathOf(temporaryDirectory, sandboxName);
  return {
    holdsWork,
    find: async (sandbox) => {
      const directory = directoryOf(sandbox);
      return existsSync(directory) ? `directory ${directory}` : undefined;
    },
    remove: (sandbox) => remove(directoryOf(sandbox)),
  };
};

/** By the name of the sandbox provider. Sandboxes of providers that are not listed are their users' to look after. */
export const sandboxLeftovers: ReadonlyMap<string, SandboxLeftovers> = new Map([
  ["docker", containers(dockerEngine)],
  ["podman", containers(podmanEngine)],
  ["bubblewrap", directories(false, bubblewrapDirectory, removeDirectory)],
  ["test-isolated", directories(true, testIsolatedDirectory, removeTestIsolated)],
]);
