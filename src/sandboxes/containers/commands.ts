import { runLaunch } from "../exec/runLaunch.ts";
import type { HostProcess, Launch, LaunchOptions, SandboxAccess } from "../exec/sandboxAccess.ts";
import { diagnoseContainer } from "./diagnoseContainer.ts";
import { type ContainerEngine, clientArguments } from "./engine.ts";
import { memoryKillExplainer } from "./memoryKills.ts";
import { execOverSocket } from "./socket/execOverSocket.ts";

/** The keys that detach from a session. By default they begin with Ctrl-P, which agents use. */
const UNUSED_KEYS = "ctrl-^,ctrl-],ctrl-^,ctrl-]";

/** The facts about a container that running commands needs. */
export interface RunningContainer {
  readonly name: string;
  readonly user: string;
  readonly memory: string | undefined;
  /** How long its engine may take to answer. */
  readonly answerTimeoutMs: number;
}

/** How commands of a container are run and explained. */
export const containerCommands = (engine: ContainerEngine, container: RunningContainer) => {
  const clientLaunch = (argv: readonly string[], user: string, terminal: boolean): HostProcess => ({
    program: engine.name,
    get args() {
      return clientArguments(engine, [
        "exec",
        "--interactive",
        ...(terminal ? ["--tty", "--detach-keys", UNUSED_KEYS] : []),
        "--user",
        user,
        container.name,
        ...argv,
      ]);
    },
    ...(engine.connection && { isReady: engine.connection.open }),
    ...(engine.connection?.environment && { env: engine.connection.environment() }),
  });
  const launch = (argv: readonly string[], { sudo, terminal = false }: LaunchOptions): Launch => {
    const user = sudo ? "0:0" : container.user;
    const client = clientLaunch(argv, user, terminal);
    const socketPath = terminal ? undefined : engine.localSocket();
    if (socketPath === undefined) return client;
    const command = { container: container.name, argv, user };
    return {
      endsWithOutput: true,
      call: async (streams) =>
        (await execOverSocket(socketPath, command, streams)) ?? (await runLaunch(client, streams)).exitCode,
    };
  };
  return {
    launch,
    explainKill: memoryKillExplainer(launch, {
      limit: container.memory,
      timeoutMs: container.answerTimeoutMs,
    }),
    diagnose: () => diagnoseContainer(engine, container.name),
  } satisfies Partial<SandboxAccess>;
};
