import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { vi } from "vitest";
import { USUAL_DOCKER_SOCKET } from "../../../src/sandboxes/containers/socket/dockerSocket.ts";
import { afterTest } from "../../helpers/processes/sideBySide.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";

/** A question to the daemon, by its first line: `DELETE /containers/…`. Each has a connection of its own. */
export type Answers = (question: string, connection: Socket) => boolean;

/** The daemon's way to refuse a question. */
export const refuse = (connection: Socket, status: number, message: string): void => {
  const body = JSON.stringify({ message });
  connection.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
};

/**
 * Puts a socket before that of the docker daemon, which `DOCKER_HOST` names until the test ends. It passes everything on, except for
 * what `answers` takes.
 */
export const useDaemonBehind = async (answers: Answers = () => false) => {
  const real = process.env["DOCKER_HOST"]?.replace("unix://", "") ?? USUAL_DOCKER_SOCKET;
  const connections = new Map<Socket, string>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => {});
    connection.once("data", (begin: Buffer) => {
      const question = begin.toString("latin1").split(" HTTP/")[0] ?? "";
      connections.set(connection, question);
      if (answers(question, connection)) return;
      const passedOn = connect({ path: real, allowHalfOpen: true });
      passedOn.on("error", () => connection.destroy());
      connection.on("close", () => passedOn.destroy());
      passedOn.write(begin);
      connection.pipe(passedOn).pipe(connection);
    });
  });
  const socket = join(temporaryDirectory(), "docker.sock");
  await once(server.listen(socket), "listening");
  vi.stubEnv("DOCKER_HOST", `unix://${socket}`);
  /** Breaks the connections of the questions that match. */
  const breakConnections = (pattern: RegExp) => {
    for (const [connection, question] of connections) if (pattern.test(question)) connection.destroy();
  };
  afterTest(() => {
    breakConnections(/./);
    server.close();
  });
  return { breakConnections };
};
