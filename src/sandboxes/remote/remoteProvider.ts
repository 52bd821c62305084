import { InvalidOptionsError, SandboxError } from "../../errors.ts";
import { REMOTE_ROOT } from "../containers/arguments.ts";
import type { ContainerEngine } from "../containers/engine.ts";
import { imageOf, type RemoteContainerOptions } from "../containers/options.ts";
import { commitContainer, removeSnapshotImage } from "../containers/snapshot.ts";
import { removeContainer, startContainer } from "../containers/startContainer.ts";
import {
  createIsolatedSandboxProvider,
  type IsolatedSandboxHandle,
  type IsolatedSandboxProvider,
  type SandboxCreateOptions,
  type SandboxSnapshot,
} from "../contract.ts";
import { DeadlineWarning, withDeadlineWarning } from "../exec/deadlineWarning.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import { consistentTimes, type SandboxTimes } from "../exec/sandboxTimes.ts";
import { sandboxTags } from "../services/sandboxTags.ts";
import { type Placement, placeSandbox, usableEngines } from "./placement.ts";
import { remoteEngine } from "./remoteEngine.ts";
import { HOME_PATH, remoteCommands, remoteHandle, WORKTREE_PATH } from "./remoteHandle.ts";
import { remoteHostsOf } from "./remoteHost.ts";

const LONGER = "For a longer one, set `lifetimeMs`";

const PREPARE_TIMEOUT_MS = 30_000;

const LOCAL_OPTIONS = ["mounts", "allowUnsafeMounts", "selinuxLabel"] as const;

/** The options, checked and complete. */
type RemoteSettings = RemoteContainerOptions & SandboxTimes;

const settingsOf = (options: RemoteContainerOptions): RemoteSettings => {
  const local = LOCAL_OPTIONS.find((name) => options[name] !== undefined);
  if (local !== undefined) {
    throw new InvalidOptionsError(
      local,
      "it is not possible together with `host`: an engine on another machine does not see this machine's files",
    );
  }
  return { ...options, ...consistentTimes(options) };
};

/** Runs as the user of the commands, because git trusts only that user's directories. Waits until the container is up. */
const PREPARE = `
tries=0
until [ -d ${REMOTE_ROOT}/lease ] || [ $tries -ge 100 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
mkdir -p ${WORKTREE_PATH} ${HOME_PATH}
`;

const start = async (
  { engine, imageUser }: Placement,
  settings: RemoteSettings,
  options: SandboxCreateOptions,
) => {
  const user = settings.user ?? (imageUser === "" ? "0:0" : imageUser);
  const { leaseMs, lifetimeMs } = settings;
  const { owner, expires } = sandboxTags(options.runId, lifetimeMs);
  const name = options.sandboxName;
  await startContainer(engine, settings, options, {
    user: { user, runArguments: [] },
    homePath: HOME_PATH,
    mounts: [],
    selinuxLabel: false,
    mountSetsLabels: engine.mountSetsLabels,
    overlayArguments: engine.overlayArguments,
    labels: { owner, expires },
    lease: { leaseMs, lifetimeMs },
  });
  const commands = remoteCommands(engine, { name, user, memory: settings.memory });
  try {
    const prepared = await askLaunch(commands.launch(["sh", "-c", PREPARE], { sudo: false }), {
      timeoutMs: PREPARE_TIMEOUT_MS,
      ...(options.signal && { signal: options.signal }),
    });
    if (prepared.exitCode !== 0) {
      throw new SandboxError(
        engine.name,
        `the directories of the container ${name} could not be made`,
        (await commands.diagnose()).details,
      );
    }
  } catch (error) {
    await removeContainer(engine, name, options.snapshot?.name).catch(() => {});
    throw error;
  }
  return commands;
};

/** The engine that has the image of a snapshot: a new sandbox has to be made there. */
const enginesFor = (
  engines: readonly ContainerEngine[],
  snapshot: SandboxSnapshot | undefined,
): { readonly engines: readonly ContainerEngine[]; readonly snapshot?: SandboxSnapshot } => {
  if (snapshot === undefined) return { engines };
  const [state = "", host] = snapshot.state.split(" ");
  const found = engines.filter(({ connection }) => connection?.host === host);
  if (found.length > 0) return { engines: found, snapshot: { ...snapshot, state } };
  const name = engines[0]?.name ?? "";
  throw new SandboxError(name, `the snapshot ${snapshot.name} is at an engine that is not among its hosts`);
};

const create = async (
  all: readonly ContainerEngine[],
  settings: RemoteSettings,
  { snapshot: given, ...rest }: SandboxCreateOptions,
): Promise<IsolatedSandboxHandle> => {
  const { engines, snapshot } = enginesFor(all, given);
  const options = { ...rest, ...(snapshot && { snapshot }) };
  const placement = await placeSandbox(engines, {
    image: snapshot?.state ?? imageOf(settings, options.repositoryPath),
    owner: sandboxTags(options.runId, 0).owner,
    signal: options.signal,
  });
  const { engine } = placement;
  try {
    options.onPlaced?.(engine.connection?.host ?? "");
    const madeAt = Date.now();
    const commands = await start(placement, settings, options);
    const handle = remoteHandle(engine, commands, {
      name: options.sandboxName,
      leaseMs: settings.leaseMs,
      onLeft: placement.release,
      snapshot: async (taken) => {
        const { repositoryPath } = options;
        const imageUser = placement.imageUser;
        const id = await commitContainer(engine, options.sandboxName, taken, { repositoryPath, imageUser });
        return `${id} ${engine.connection?.host}`;
      },
      close: () => removeContainer(engine, options.sandboxName, snapshot?.name).finally(placement.release),
    });
    const { lifetimeMs } = settings;
    return withDeadlineWarning(
      handle,
      new DeadlineWarning({ provider: engine.name, atMs: madeAt + lifetimeMs, lifetimeMs, hint: LONGER }),
    );
  } catch (error) {
    placement.release();
    throw error;
  }
};

/** A sandbox provider on top of engines on other machines, whose command line is Docker's. */
export const remoteContainerProvider = (
  engine: ContainerEngine,
  options: RemoteContainerOptions,
): IsolatedSandboxProvider => {
  const settings = settingsOf(options);
  const engines = remoteHostsOf(settings.host).map((host) => remoteEngine(engine, host));
  return createIsolatedSandboxProvider({
    name: engine.name,
    ...(settings.env && { env: settings.env }),
    capabilities: { networkPolicy: "on-off" },
    preflight: async ({ repositoryPath, signal }) => {
      const image = imageOf(settings, repositoryPath);
      await usableEngines(engines, { image, owner: "", signal });
    },
    removeSnapshot: async ({ name, state }) => {
      const at = engines.filter(({ connection }) => connection?.host === state.split(" ")[1]);
      for (const engine of at) await removeSnapshotImage(engine, name);
    },
    create: (createOptions) => create(engines, settings, createOptions),
  });
};
