import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { doubling, retry, scattered } from "../../tools/wait/retry.ts";
import type { SshHost } from "./remoteHost.ts";
import { connectBySsh, type SshConnection } from "./sshConnection.ts";

/** A socket on this machine behind which an engine on another one listens. */
export interface Tunnel {
  /** Where it is after `open`. Each connection has a place of its own: the one before could be taken by somebody else. */
  readonly socketPath: string;
  /** Resolves when the way is open; a broken one is made anew. Rejects with what ssh said. */
  open(): Promise<void>;
  /** The way is wanted until the function that is returned is called; otherwise it is given up after a while. */
  hold(): () => void;
  /** What ssh has complained about last. */
  complaints(): string;
}

const LINGER_MS = 30_000;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 300;

/** An address of a socket has room for a hundred bytes, and ssh takes a colon in it for a separator. */
const temporaryDirectory = (): string => (/^[A-Za-z0-9._/-]{1,60}$/.test(tmpdir()) ? tmpdir() : "/tmp");

/** A connection has broken, although nobody has said so yet. */
const BROKEN = new Error("the connection was lost");

/** A server that has too many logins under way turns some of them down: those are to come again. */
const COMES_AGAIN = /kex_exchange_identification|connection (reset|closed) by|the connection was lost/i;

const pauseAfter = (problem: unknown, failures: number): number | undefined => {
  if (problem === BROKEN) return 0;
  return COMES_AGAIN.test((problem as Error).message)
    ? scattered(doubling(FIRST_PAUSE_MS, failures))
    : undefined;
};

const newSocketPath = (): string =>
  join(temporaryDirectory(), `sanddune-ssh-${randomBytes(8).toString("hex")}`, "engine");

const makeTunnel = (host: SshHost, remoteSocketPath: string): Tunnel => {
  let holds = 0;
  let linger: NodeJS.Timeout | undefined;
  let way: Promise<SshConnection> | undefined;
  let last: SshConnection | undefined;
  let previous = Promise.resolve();

  const start = (): Promise<SshConnection> => {
    const started = previous.then(() => connectBySsh(host, newSocketPath(), remoteSocketPath));
    way = started;
    const forget = () => {
      if (way === started) way = undefined;
    };
    previous = started.then(async (current) => {
      last = current;
      await current.isOver;
      forget();
    }, forget);
    return started;
  };
  const stop = () => {
    void way?.then(
      (started) => started.stop(),
      () => {},
    );
    way = undefined;
  };
  const restLater = () => {
    clearTimeout(linger);
    if (holds === 0) linger = setTimeout(stop, LINGER_MS).unref();
  };
  const problemOf = (current: SshConnection): Promise<Error | undefined> =>
    current.isOpen.then(
      () => (existsSync(current.socketPath) ? undefined : BROKEN),
      (error: Error) => error,
    );
  const connect = async () => {
    const current = await (way ?? start());
    const problem = await problemOf(current);
    if (problem === undefined) return;
    current.stop();
    await current.isOver;
    throw problem;
  };
  const open = async () => {
    clearTimeout(linger);
    try {
      await retry(connect, { attempts: ATTEMPTS, pauseAfter });
    } finally {
      restLater();
    }
  };

  return {
    get socketPath() {
      return last?.socketPath ?? "";
    },
    open,
    hold: () => {
      holds++;
      clearTimeout(linger);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        holds--;
        restLater();
      };
    },
    complaints: () => last?.complaints() ?? "",
  };
};

const tunnels = new Map<string, Tunnel>();

/**
 * The way to an engine on another machine: one connection for all clients of this process, however many there are. One for
 * each client would take a login for every command, and servers turn logins down when there are many at a time.
 */
export const tunnelTo = (host: SshHost, remoteSocketPath: string): Tunnel => {
  const key = `${remoteSocketPath} ${host.url}`;
  const tunnel = tunnels.get(key) ?? makeTunnel(host, remoteSocketPath);
  tunnels.set(key, tunnel);
  return tunnel;
};
