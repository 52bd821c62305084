import { killExecArguments } from "../../process/kill/killScript.ts";
import { overlayProblem } from "../../process/overlay/overlayProblem.ts";
import {
  type BindMountCreateOptions,
  type BindMountSandboxHandle,
  type BindMountSandboxProvider,
  createBindMountSandboxProvider,
  type PreflightOptions,
} from "../contract.ts";
import { commandSandbox } from "../exec/commandSandbox.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import { settingsDigest } from "../handle/settingsDigest.ts";
import { mountArguments } from "./arguments.ts";
import { containerCommands } from "./commands.ts";
import type { ContainerEngine } from "./engine.ts";
import { type ImageId, imageIds } from "./imageId.ts";
import { type ContainerOptions, mountsOf } from "./options.ts";
import { commitContainer, removeSnapshotImage } from "./snapshot.ts";
import { removeContainer, startContainer } from "./startContainer.ts";
import { processLabel } from "./unlistedContainers.ts";

/** The runs of a fleet begin together. */
const IMAGE_FRESH_MS = 1000;
const KILL_TIMEOUT_MS = 2000;

const labelsOf = (engine: ContainerEngine, settings: ContainerOptions) => ({
  selinuxLabel: settings.selinuxLabel ?? engine.defaultSelinuxLabel(),
  mountSetsLabels: engine.mountSetsLabels,
  overlayArguments: engine.overlayArguments,
});

/** Checks everything that could keep a container from starting. */
const preflight = async (
  engine: ContainerEngine,
  settings: ContainerOptions,
  options: PreflightOptions,
  imageId: ImageId,
): Promise<void> => {
  const worktree = { hostPath: options.repositoryPath, sandboxPath: "/", readOnly: false };
  const labels = labelsOf(engine, settings);
  for (const mount of [worktree, ...(await mountsOf(settings, options))]) {
    mountArguments(mount, labels);
  }
  await imageId(options);
};

const create = async (
  engine: ContainerEngine,
  settings: ContainerOptions,
  options: BindMountCreateOptions,
): Promise<BindMountSandboxHandle> => {
  options.signal?.throwIfAborted();
  const hostUser = await engine.hostUser();
  const user = { ...hostUser, user: settings.user ?? hostUser.user };
  const container = options.sandboxName;
  await startContainer(engine, settings, options, {
    user,
    homePath: options.homePath,
    mounts: [...options.mounts, ...(await mountsOf(settings, options))],
    ...labelsOf(engine, settings),
    labels: processLabel(),
  });
  const commands = containerCommands(engine, {
    name: container,
    user: user.user,
    memory: settings.memory,
    answerTimeoutMs: KILL_TIMEOUT_MS,
  });
  const kill = (argv: readonly string[], sudo: boolean) =>
    askLaunch(commands.launch(argv, { sudo }), { timeoutMs: KILL_TIMEOUT_MS }).catch(() => undefined);
  return commandSandbox({
    provider: engine.name,
    name: container,
    worktreePath: options.worktreePath,
    fallbackHome: options.homePath,
    ...commands,
    kill: async (execId, { sudo }) => {
      const argv = killExecArguments(execId, { ownsProcessNamespace: true, mayStillStart: true });
      // Root without capabilities cannot kill processes of another user.
      await Promise.all(sudo ? [kill(argv, true), kill(argv, false)] : [kill(argv, false)]);
    },
    closingKills: true,
    snapshot: (snapshot) => commitContainer(engine, container, snapshot, options),
    close: () => removeContainer(engine, container, options.snapshot?.name),
  });
};

/** Addresses are noted and shown. */
const withoutPassword = (address: string): string => address.replace(/(:\/\/[^/@:]*):[^/@]*@/, "$1@");

/** What the commands of a set-up depend on, besides the image. */
const digestOf = ({ user, network, mounts, capabilities, extraArgs }: ContainerOptions): string =>
  settingsDigest({ user, network, mounts, capabilities, extraArgs });

/** A sandbox provider on top of any engine whose command line is Docker's. */
export const containerSandboxProvider = (
  engine: ContainerEngine,
  settings: ContainerOptions,
): BindMountSandboxProvider => {
  const recentImageId = imageIds(engine, settings, IMAGE_FRESH_MS);
  // A kept set-up belongs to the image that its container starts from, and the user may have just built that anew.
  const imageId = imageIds(engine, settings, 0);
  return createBindMountSandboxProvider({
    name: engine.name,
    ...(settings.env && { env: settings.env }),
    capabilities: { networkPolicy: "on-off" },
    overlayProblem: async (directory) => {
      if (labelsOf(engine, settings).selinuxLabel !== false) return "overlays have no SELinux label";
      return (await engine.overlayProblem()) ?? overlayProblem(directory);
    },
    stacksLayers: engine.stacksLayers,
    preflight: (options) => preflight(engine, settings, options, recentImageId),
    removeSnapshot: ({ name }) => removeSnapshotImage(engine, name),
    snapshotBase: async (options) => `${await imageId(options)} ${digestOf(settings)}`,
    snapshotPlace: async () => withoutPassword(await engine.address()),
    create: (options) => create(engine, settings, options),
  });
};
