import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";

/** A machine that accepts connections and never says a word. */
export interface SilentServer {
  readonly url: string;
  /** How many connections are open. */
  connections(): number;
  close(): Promise<void>;
}

export const startSilentServer = async (): Promise<SilentServer> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
