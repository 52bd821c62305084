import { SandboxUnavailableError } from "../../errors.ts";
import { hostEnvironment } from "../../process/hostPrograms.ts";
import type { ContainerEngine, EngineConnection } from "../containers/engine.ts";
import type { RemoteHost, SshHost, TcpHost } from "./remoteHost.ts";
import { tunnelTo } from "./tunnel.ts";

const byTcp = (engine: ContainerEngine, { url }: TcpHost): EngineConnection => {
  const clientArguments = engine.clientArguments(url);
  return {
    host: url,
    commandLine: [engine.name, ...clientArguments].join(" "),
    clientArguments,
    open: async () => {},
    hold: () => () => {},
    complaints: () => "",
  };
};

/** The command with which a user tries to log in. */
const sshCommandLine = ({ machine, user, port }: SshHost): string =>
  [
    "ssh",
    ...(port === undefined ? [] : ["-p", port]),
    user === undefined ? machine : `${user}@${machine}`,
  ].join(" ");

/** Certificates are for ports, but the client would also require them for a socket. */
const environmentWithoutTls = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hostEnvironment()).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && entry[0] !== "DOCKER_TLS_VERIFY" && entry[0] !== "DOCKER_TLS",
    ),
  );

const bySsh = (engine: ContainerEngine, host: SshHost): EngineConnection => {
  const tunnel = tunnelTo(host, engine.usualSocketPath);
  return {
    host: host.url,
    commandLine: [engine.name, ...engine.clientArguments(host.url)].join(" "),
    get clientArguments() {
      return engine.clientArguments(`unix://${tunnel.socketPath}`);
    },
    environment: environmentWithoutTls,
    open: () =>
      tunnel.open().catch((error: unknown) => {
        const said = (error as Error).message.split("\n").at(-1);
        throw new SandboxUnavailableError(
          engine.name,
          `ssh cannot connect to ${host.url} (${said})`,
          `Check with: ${sshCommandLine(host)} true – it must work without a prompt. Install ssh if it is missing: sudo apt-get install openssh-client`,
        );
      }),
    hold: tunnel.hold,
    complaints: tunnel.complaints,
  };
};

/** An engine on another machine. */
export const remoteEngine = (engine: ContainerEngine, host: RemoteHost): ContainerEngine => ({
  ...engine,
  localSocket: () => undefined,
  connection: host.type === "tcp" ? byTcp(engine, host) : bySsh(engine, host),
});
