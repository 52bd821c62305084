import { InvalidOptionsError } from "../../errors.ts";
import { kindOf } from "../../options/checks/valueKind.ts";

/** An engine that listens on a port of its machine. */
export interface TcpHost {
  readonly type: "tcp";
  readonly url: string;
}

/** An engine that is reached by logging in to its machine. */
export interface SshHost {
  readonly type: "ssh";
  readonly url: string;
  /** A name that ssh knows, an alias of its configuration included. */
  readonly machine: string;
  readonly user: string | undefined;
  readonly port: string | undefined;
  /** The engine's socket there; the engine's default when it is left out. */
  readonly socketPath: string | undefined;
}

/** The address of an engine on another machine. */
export type RemoteHost = TcpHost | SshHost;

// No address can be read as an option of a program, and none can hold a password.
const MACHINE = String.raw`[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:]+\]`;
const TCP = new RegExp(String.raw`^tcp://(?:${MACHINE}):(?<port>\d{1,5})$`);
const SSH = new RegExp(
  String.raw`^ssh://(?:(?<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?(?<machine>${MACHINE})(?::(?<port>\d{1,5}))?(?<path>/[A-Za-z0-9._/-]*)?$`,
);

const isPort = (port: string | undefined): boolean =>
  port === undefined || (Number(port) > 0 && Number(port) <= 65_535);

/** Parses the address of an engine; `undefined` if it is malformed. */
export const parseRemoteHost = (text: string): RemoteHost | undefined => {
  const url = text.replace(/\/$/, "");
  const tcp = TCP.exec(url)?.groups;
  if (tcp !== undefined) return isPort(tcp["port"]) ? { type: "tcp", url } : undefined;
  const ssh = SSH.exec(url)?.groups;
  if (ssh === undefined || !isPort(ssh["port"])) return undefined;
  return {
    type: "ssh",
    url,
    machine: (ssh["machine"] as string).replace(/^\[|\]$/g, ""),
    user: ssh["user"],
    port: ssh["port"],
    socketPath: ssh["path"],
  };
};

const FORMS = '"ssh://user@machine", "ssh://user@machine:22/path/of/socket" or "tcp://machine:2376"';

/** The addresses of the option `host`, each once; throws an `InvalidOptionsError`. */
export const remoteHostsOf = (host: unknown): readonly [RemoteHost, ...RemoteHost[]] => {
  const refuse = (problem: string): never => {
    throw new InvalidOptionsError("host", problem);
  };
  const texts: readonly unknown[] = Array.isArray(host) ? host : [host];
  const hosts = texts.map(
    (text) =>
      (typeof text === "string" ? parseRemoteHost(text) : undefined) ??
      refuse(
        `${typeof text === "string" ? JSON.stringify(text) : kindOf(text)} is not the address of an engine on another machine. Write ${FORMS}, without a password`,
      ),
  );
  const [first, ...others] = new Map(hosts.map((each) => [each.url, each])).values();
  return first === undefined ? refuse(`an empty list has no engine. Write ${FORMS}`) : [first, ...others];
};
