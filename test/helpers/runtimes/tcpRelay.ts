import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

/** A port of this machine's loopback, behind which an engine's socket is. */
export interface TcpRelay {
  /** `tcp://127.0.0.1:…` */
  readonly address: string;
  /** How many connections have come so far. */
  connections(): number;
  /** Breaks the next connection in which a client says this, before the engine hears of it, and no other. */
  cutAt(words: string): void;
  /** Breaks every connection, and takes no other, until `mend`. */
  cut(): void;
  /** Keeps every connection, old and new, and lets nothing through any more: as a network does that has lost a machine. */
  swallow(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Opens a port of loopback to a socket, for as long as a test wants it: a daemon's own port would be open to everybody. */
export const openTcpRelay = async (socketPath: string, tls?: TlsOptions): Promise<TcpRelay> => {
  const sockets = new Set<Socket>();
  let state: "open" | "cut" | "swallowing" = "open";
  let count = 0;
  let lastWords: string | undefined;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const receive = (client: Socket): void => {
    keep(client);
    count++;
    if (state === "cut") {
      client.destroy();
      return;
    }
    if (state === "swallowing") return;
    const engine = connect({ path: socketPath, allowHalfOpen: true });
    keep(engine);
    client.on("data", (chunk) => {
      if (lastWords === undefined || !chunk.includes(lastWords)) return;
      lastWords = undefined;
      client.destroy();
      engine.destroy();
    });
    client.pipe(engine).pipe(client);
    client.on("close", () => engine.destroy());
    engine.on("close", () => client.destroy());
  };
  // A client that has said all it has to say still wants to listen.
  const server =
    tls === undefined
      ? createServer({ allowHalfOpen: true }, receive)
      : createTlsServer({ ...tls, allowHalfOpen: true }, receive);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    address: `tcp://127.0.0.1:${port}`,
    connections: () => count,
    cutAt: (words) => {
      lastWords = words;
    },
    cut: () => {
      state = "cut";
      for (const socket of sockets) socket.destroy();
    },
    swallow: () => {
      state = "swallowing";
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: () => {
      state = "open";
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
