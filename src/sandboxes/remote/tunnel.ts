import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { doubling, retry, scattered } from "../../tools/wait/retry.ts";
import type { SshHost } from "./remoteHost.ts";
import { connectBySsh, type SshConnection } from "./sshConnection.ts";

/** A socket on this machine that is connected to an engine on another one. */
export interface Tunnel {
  /** Its path after `open`. Each connection has its own: another process could have taken the previous one. */
  readonly socketPath: string;
  /** Resolves when the connection is open; a broken one is replaced. Rejects with ssh's error. */
  open(): Promise<void>;
  /** Keeps the connection until the returned function is called; an unused one is closed after a while. */
  hold(): () => void;
  /** The latest errors that ssh has printed. */
  complaints(): string;
}

const LINGER_MS = 30_000;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 300;

/** A socket's path has at most about a hundred bytes, and ssh reads a colon in it as a separator. */
const temporaryDirectory = (): string => (/^[A-Za-z0-9._/-]{1,60}$/.test(tmpdir()) ? tmpdir() : "/tmp");

/** A connection that broke without an error. */
const BROKEN = new Error("the connection was lost");

/** A server with too many logins at once refuses some of them: those are retried. */
const COMES_AGAIN = /kex_exchange_identification|connection (reset|closed) by|the connection was lost/i;

const pauseMsAfter = (problem: unknown, failures: number): number | undefined => {
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
    throw problem;
  };
  const pauseAfter = async (problem: unknown, failures: number) => {
    const pauseMs = pauseMsAfter(problem, failures);
    // Only a retry waits for the end of ssh: it may take its time.
    if (pauseMs !== undefined) await last?.isOver;
    return pauseMs;
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
 * The connection to an engine on another machine, shared by all clients of this process. A connection for each client would need a
 * login for every command, and servers refuse logins when there are many at a time.
 */
export const tunnelTo = (host: SshHost, remoteSocketPath: string): Tunnel => {
  const key = `${remoteSocketPath} ${host.url}`;
  const tunnel = tunnels.get(key) ?? makeTunnel(host, remoteSocketPath);
  tunnels.set(key, tunnel);
  return tunnel;
};
