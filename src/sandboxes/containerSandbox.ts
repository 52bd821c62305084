import { SandboxError } from "../errors.ts";
import { killExecArguments } from "../process/killScript.ts";
import { runProcess } from "../process/runProcess.ts";
import { commandSandbox } from "./commandSandbox.ts";
import { type ContainerEngine, callEngine, unavailability } from "./containerEngine.ts";
import { type ContainerOptions, imageOf, mountsOf } from "./containerOptions.ts";
import {
  type BindMountCreateOptions,
  type BindMountSandboxHandle,
  type BindMountSandboxProvider,
  createBindMountSandboxProvider,
  type PreflightOptions,
} from "./contract.ts";
import { COUNT_MEMORY_KILLS, diagnoseContainer } from "./diagnoseContainer.ts";
import type { LaunchOptions } from "./sandboxAccess.ts";
import { removeContainer, startContainer } from "./startContainer.ts";

const INSPECT_TIMEOUT_MS = 10_000;
const KILL_TIMEOUT_MS = 2000;
/** The keys that leave a session without ending it. By default they begin with Ctrl-P, which agents have a use for. */
const UNUSED_KEYS = "ctrl-^,ctrl-],ctrl-^,ctrl-]";

const preflight = async (
  engine: ContainerEngine,
  settings: ContainerOptions,
  options: PreflightOptions,
): Promise<void> => {
  const image = imageOf(settings, options.repositoryPath);
  await mountsOf(settings, options.repositoryPath);
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
  await startContainer(engine, settings, options, user);
  const container = options.sandboxName;
  const launch = (argv: readonly string[], { sudo, terminal = false }: LaunchOptions) => ({
    program: engine.name,
    args: [
      "exec",
      "--interactive",
      ...(terminal ? ["--tty", "--detach-keys", UNUSED_KEYS] : []),
      "--user",
      sudo ? "0:0" : user.user,
      container,
      ...argv,
    ],
  });
  const ask = (argv: readonly string[], sudo = false) =>
    runProcess({ ...launch(argv, { sudo }), timeoutMs: KILL_TIMEOUT_MS, captureBytes: 1024 }).catch(
      () => undefined,
    );

  let knownMemoryKills = 0;
  return commandSandbox({
    provider: engine.name,
    name: container,
    worktreePath: options.worktreePath,
    fallbackHome: options.homePath,
    launch,
    kill: async (execId, { sudo }) => {
      const argv = killExecArguments(execId, { ownsProcessNamespace: true, mayStillStart: true });
      // Root without capabilities cannot kill what it started as another user.
      await Promise.all(sudo ? [ask(argv, true), ask(argv)] : [ask(argv)]);
    },
    explainKill: async () => {
      const counted = await ask(["sh", "-c", COUNT_MEMORY_KILLS]);
      const memoryKills = Number(/\d+/.exec(counted?.stdout ?? "")?.[0] ?? 0);
      if (memoryKills <= knownMemoryKills) return undefined;
      knownMemoryKills = memoryKills;
      const limit = settings.memory === undefined ? "" : ` of ${settings.memory}`;
      return { problem: `a command was killed, because the memory${limit} was used up`, details: "" };
    },
    diagnose: () => diagnoseContainer(engine, container),
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
    preflight: (options) => preflight(engine, settings, options),
    create: (options) => create(engine, settings, options),
  });
