import { SandboxError } from "../../errors.ts";
import { killExecArguments } from "../../process/kill/killScript.ts";
import {
  type BindMountCreateOptions,
  type BindMountSandboxHandle,
  type BindMountSandboxProvider,
  createBindMountSandboxProvider,
  type PreflightOptions,
} from "../contract.ts";
import { commandSandbox } from "../exec/commandSandbox.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import { mountArguments } from "./arguments.ts";
import { containerCommands } from "./commands.ts";
import { type ContainerEngine, callEngine, unavailability } from "./engine.ts";
import { type ContainerOptions, imageOf, mountsOf } from "./options.ts";
import { removeContainer, startContainer } from "./startContainer.ts";
import { processLabel } from "./unlistedContainers.ts";

const INSPECT_TIMEOUT_MS = 10_000;
const KILL_TIMEOUT_MS = 2000;

const labelsOf = (engine: ContainerEngine, settings: ContainerOptions) => ({
  selinuxLabel: settings.selinuxLabel ?? engine.defaultSelinuxLabel(),
  mountSetsLabels: engine.mountSetsLabels,
});

/** Checks everything that could keep a container from starting. */
const preflight = async (
  engine: ContainerEngine,
  settings: ContainerOptions,
  options: PreflightOptions,
): Promise<void> => {
  const image = imageOf(settings, options.repositoryPath);
  const worktree = { hostPath: options.repositoryPath, sandboxPath: "/", readOnly: false };
  const labels = labelsOf(engine, settings);
  for (const mount of [worktree, ...(await mountsOf(settings, options))]) {
    mountArguments(mount, labels);
  }
  const inspected = await callEngine(engine, ["image", "inspect", "--format", "{{.Id}}", image], {
    timeoutMs: INSPECT_TIMEOUT_MS,
    signal: options.signal,
  });
  if (inspected.exitCode !== 0) {
    throw (
      unavailability(engine, image, inspected.stderr) ??
      new SandboxError(engine.name, `the image ${image} could not be looked up`, inspected.stderr)
    );
  }
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
    close: () => removeContainer(engine, container),
  });
};

/** A sandbox provider on top of any engine whose command line is Docker's. */
export const containerSandboxProvider = (
  engine: ContainerEngine,
  settings: ContainerOptions,
): BindMountSandboxProvider =>
  createBindMountSandboxProvider({
    name: engine.name,
    ...(settings.env && { env: settings.env }),
    capabilities: { networkPolicy: "on-off" },
    preflight: (options) => preflight(engine, settings, options),
    create: (options) => create(engine, settings, options),
  });
