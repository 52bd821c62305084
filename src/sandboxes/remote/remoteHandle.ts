import { SandboxLostError } from "../../errors.ts";
import { endCommandsArguments } from "../../process/kill/endCommands.ts";
import { REMOTE_ROOT, RENEWAL_FILE, ROOT_SHELL } from "../containers/arguments.ts";
import { containerCommands } from "../containers/commands.ts";
import type { ContainerDiagnosis } from "../containers/diagnoseContainer.ts";
import type { ContainerEngine } from "../containers/engine.ts";
import type { IsolatedSandboxHandle, SnapshotOptions } from "../contract.ts";
import { isolatedCommandSandbox } from "../exec/commandSandbox.ts";
import type { Heartbeat } from "../exec/heartbeat.ts";
import { killInSandbox } from "../exec/killInSandbox.ts";
import { askLaunch } from "../exec/runLaunch.ts";
import type { SandboxAccess } from "../exec/sandboxAccess.ts";
import { attachable } from "../relay/attachedTransport.ts";
import { type Outage, Reachability } from "../relay/reachability.ts";

export const WORKTREE_PATH = `${REMOTE_ROOT}/repo`;
export const HOME_PATH = `${REMOTE_ROOT}/home`;

const ANSWER_TIMEOUT_MS = 10_000;
/** How long an engine may be silent; half a lease, if that is shorter. */
const ENGINE_OUTAGE_MS = 30_000;
const CONTAINER_OUTAGE_MS = 3000;

/** Many beats fit into half a lease, the interval at which the container checks for a renewal. */
const heartbeatOf = (
  launch: SandboxAccess["launch"],
  engine: ContainerEngine,
  leaseMs: number,
): Heartbeat => {
  const everyMs = Math.min(15_000, Math.max(1000, leaseMs / 40));
  return {
    everyMs,
    misses: 2,
    beat: async (signal) => {
      // A container that answers is alive, even if its disk is full.
      const renewal = launch([ROOT_SHELL, "-c", `true >${RENEWAL_FILE}; echo here`], { sudo: true });
      const { exitCode, stdout } = await askLaunch(renewal, { timeoutMs: Math.max(everyMs, 3000), signal });
      if (stdout.trim() !== "here") {
        const where = engine.connection?.host ?? engine.name;
        throw new Error(`its lease could not be renewed at ${where}: exit code ${exitCode}`);
      }
    },
  };
};

/** If the engine answers, the container is reachable soon or never. */
const outageOf = ({ problem, isRunning }: ContainerDiagnosis, leaseMs: number): Outage => {
  if (isRunning === undefined) return { problem, patienceMs: Math.min(ENGINE_OUTAGE_MS, leaseMs / 2) };
  return { problem, patienceMs: isRunning ? CONTAINER_OUTAGE_MS : 0 };
};

/** How commands of a container on another machine are run. */
export const remoteCommands = (
  engine: ContainerEngine,
  container: { readonly name: string; readonly user: string; readonly memory?: string | undefined },
) =>
  containerCommands(engine, {
    ...container,
    memory: container.memory,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  });

/** The facts about a running container. */
interface RunningContainer {
  readonly name: string;
  readonly leaseMs: number;
  /** Called when the container stays after its handle has ended. */
  onLeft?(): void;
  snapshot?(options: SnapshotOptions): Promise<string>;
  close(): Promise<void>;
}

/** The sandbox handle of a container that runs on another machine. */
export const remoteHandle = (
  engine: ContainerEngine,
  commands: ReturnType<typeof remoteCommands>,
  { name, leaseMs, onLeft, snapshot, close }: RunningContainer,
): IsolatedSandboxHandle => {
  const { launch, diagnose } = commands;
  const reach = new Reachability(launch, async () => outageOf(await diagnose(), leaseMs));
  return isolatedCommandSandbox({
    provider: engine.name,
    name,
    worktreePath: WORKTREE_PATH,
    fallbackHome: HOME_PATH,
    isRemote: true,
    ...commands,
    launch: attachable(launch, reach),
    reach,
    kill: killInSandbox(launch, { ownsProcessNamespace: true, reach }),
    heartbeat: heartbeatOf(launch, engine, leaseMs),
    leave: async () => {
      const mayExist = (await diagnose()).isRunning !== false;
      if (mayExist) onLeft?.();
      return mayExist;
    },
    ...(snapshot && { snapshot }),
    close,
  });
};

/** The shortest possible lease, assumed for a container whose settings are unknown. */
const SHORTEST_LEASE_MS = 10_000;

/** Renews the lease, and prints the owner of the files. */
const RENEW = ["sh", "-c", `true >${RENEWAL_FILE}; echo "owner $(stat -c %u:%g ${WORKTREE_PATH})"`] as const;

/** Reopens a lost container, and kills its commands, so that files do not change. Closing keeps it. */
export const reopenContainer = async (
  engine: ContainerEngine,
  name: string,
): Promise<IsolatedSandboxHandle> => {
  const ask = async (user: string, argv: readonly string[]): Promise<string> => {
    const { launch, diagnose } = remoteCommands(engine, { name, user });
    const asked = askLaunch(launch(argv, { sudo: false }), {
      timeoutMs: ANSWER_TIMEOUT_MS,
    });
    const { stdout } = await asked.catch(() => ({ stdout: "" }));
    if (stdout !== "") return stdout;
    const { problem, details } = await diagnose();
    throw new SandboxLostError(engine.name, problem, details);
  };
  const [, user] = /^owner (\d+:\d+)$/m.exec(await ask("0:0", RENEW)) ?? [];
  if (user === undefined) {
    throw new SandboxLostError(engine.name, `its ${WORKTREE_PATH} no longer exists`);
  }
  // Without capabilities, root cannot kill processes of other users.
  for (const each of new Set(["0:0", user])) await ask(each, endCommandsArguments);
  return remoteHandle(engine, remoteCommands(engine, { name, user }), {
    name,
    leaseMs: SHORTEST_LEASE_MS,
    close: async () => {},
  });
};
