import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parseObject } from "../../../tools/json/parseJson.ts";
import { onAbort } from "../../../tools/wait/onAbort.ts";
import type { LaunchStreams } from "../../exec/runLaunch.ts";
import { askSocket, sendToSocket } from "./askSocket.ts";
import { splitStreams } from "./splitStreams.ts";

/** Far longer than an engine takes that works. */
const ANSWER_MS = 60_000;
const CREATED = 201;
const OK = 200;

export interface ContainerCommand {
  readonly container: string;
  readonly argv: readonly string[];
  readonly user: string;
}

interface OpenStreams {
  readonly socket: Socket;
  /** The first bytes of the output. */
  readonly head: Buffer;
}

/** Resolves when the engine has started the command, and its streams are on the connection. */
const start = (socketPath: string, id: string, signal: AbortSignal): Promise<OpenStreams> =>
  new Promise((resolve, reject) => {
    const asked = sendToSocket(
      socketPath,
      { method: "POST", path: ["exec", id, "start"], body: { Detach: false, Tty: false } },
      { headers: { Connection: "Upgrade", Upgrade: "tcp" }, signal },
    );
    const timer = setTimeout(() => asked.destroy(new Error("the engine does not answer")), ANSWER_MS);
    asked.on("close", () => clearTimeout(timer));
    asked.on("error", reject);
    asked.on("upgrade", (_response, socket, head) => {
      clearTimeout(timer);
      resolve({ socket: socket as Socket, head });
    });
    asked.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body = `${body}${chunk}`.slice(0, 2000);
      });
      response.on("close", () => reject(new Error(String(parseObject(body)?.["message"] ?? body))));
    });
  });

/** Resolves when the connection has ended. How does not matter: an engine may reset it because of input that nothing has read. */
const transfer = (
  { socket, head }: OpenStreams,
  { stdin, onStdoutChunk, onStderrChunk }: LaunchStreams,
): Promise<void> =>
  new Promise((resolve) => {
    const push = splitStreams(onStdoutChunk, onStderrChunk);
    socket.on("error", () => {});
    socket.on("close", resolve);
    push(head);
    socket.on("data", push);
    const input = typeof stdin === "string" || stdin instanceof Uint8Array ? [Buffer.from(stdin)] : stdin;
    // It ends the input, and not the connection.
    pipeline(Readable.from(input, { objectMode: false }), socket).catch(() => {});
  });

/** The engine learns of the end of a process a little later than of the end of its output. */
const END_MS = 2000;
const LOOK_EVERY_MS = 20;

/** The exit code of a command whose connection has ended. Rejects if the engine does not know it. */
const exitCodeOf = async (socketPath: string, id: string, signal: AbortSignal): Promise<number> => {
  const question = { method: "GET", path: ["exec", id, "json"] } as const;
  for (const until = performance.now() + END_MS; performance.now() < until; ) {
    const { status, object } = (await askSocket(socketPath, question, ANSWER_MS, signal)) ?? {};
    if (status !== OK) throw new Error("the engine does not know how the command ended");
    if (object?.["Running"] === false && typeof object["ExitCode"] === "number") return object["ExitCode"];
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
  throw new Error("the connection ended, and the command still runs");
};

/**
 * Runs a command in a container through the API at its engine's socket, which saves the start of the engine's client. Resolves with
 * `undefined` if the engine has not created the command, so that it was not started: then the client has to be asked. Rejects if the
 * connection broke. When the signal is aborted the connection is closed, and the command may still run.
 */
export const execOverSocket = async (
  socketPath: string,
  { container, argv, user }: ContainerCommand,
  streams: LaunchStreams,
): Promise<number | undefined> => {
  const body = { AttachStdin: true, AttachStdout: true, AttachStderr: true, User: user, Cmd: argv };
  const path = ["containers", container, "exec"];
  const { signal } = streams;
  const created = await askSocket(socketPath, { method: "POST", path, body }, ANSWER_MS, signal);
  const id = created?.object?.["Id"];
  if (created?.status !== CREATED || typeof id !== "string") return undefined;
  signal.throwIfAborted();
  const open = await start(socketPath, id, signal);
  const stopWaiting = onAbort(signal, () => open.socket.destroy());
  try {
    await transfer(open, streams);
  } finally {
    stopWaiting();
  }
  signal.throwIfAborted();
  return exitCodeOf(socketPath, id, signal);
};
