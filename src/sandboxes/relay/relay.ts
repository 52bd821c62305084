import { setTimeout as delay } from "node:timers/promises";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { pause } from "../../tools/wait/pause.ts";
import { doubling, retry } from "../../tools/wait/retry.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { ExecInput } from "../contract.ts";
import type { LaunchStreams } from "../exec/runLaunch.ts";
import type { LibraryCall } from "../exec/sandboxAccess.ts";
import { inputPieces } from "./input.ts";
import { RelayOutput, type RelayReader } from "./output.ts";
import {
  argvFile,
  type InboxFile,
  inputFile,
  MISSING_PROGRAM,
  type OutputStream,
  OVER_FILE,
  relayArguments,
  takenFile,
} from "./script.ts";

/** The listener to a process's output. */
export interface RelayListener {
  /** For every new connection. */
  readonly openReader: () => RelayReader;
  /** For services that skip earlier output: called when the connection is complete from now on. */
  readonly onOpen: () => void;
  /** For transports that replay missed output: the numbers of the next records, and where they are. */
  readonly due: () => Readonly<Record<OutputStream, number>>;
  readonly inbox: () => string;
}

/** A process in the sandbox of a service. */
export interface RelayProcess {
  /** Reads its output until it ends or the connection breaks; settles in both cases. */
  read(listener: RelayListener, signal: AbortSignal): Promise<void>;
}

/** The operations of a service that a relay needs. */
export interface RelayTransport {
  /** A new connection replays missed output, so the inbox need not be read. */
  readonly replays?: boolean;
  /** A directory of the sandbox that belongs to the user of `writeFiles`. */
  readonly ownersDirectory: string;
  /** Starts an argv, without standard input. May do so more than once. */
  start(argv: readonly string[], options: { readonly sudo: boolean }): Promise<RelayProcess>;
  writeFiles(
    files: readonly { readonly path: string; readonly data: Uint8Array }[],
    options: { readonly sudo: boolean },
  ): Promise<void>;
  /** `undefined` if there is no such file. Rejects if it is larger. */
  readFile(path: string, options: { readonly sudo: boolean }, maxBytes: number): Promise<string | undefined>;
  /** Whether the service says that the sandbox no longer exists. Must not reject. */
  isGone(): Promise<boolean>;
}

const ATTEMPTS = 6;
/** The relay's own files are smaller, but the command can write to them, too. */
const MAX_FILE_BYTES = 256 * 1024;
const FIRST_PAUSE_MS = 200;
const START_TIMEOUT_MS = 30_000;
/** How long a stream may be silent after the command has ended: a background process may hold it open. */
const STREAMS_GRACE_MS = 1000;
/** The command's last output comes in that many pieces at most, because a pipe holds no more than one. */
const LAST_PIECES = 3;
/** A connection may be dead without an error: after so much silence, the inbox is read. */
const SILENCE_MS = 60_000;

/** The sandbox lacks a program that a relay needs: a retry cannot help. */
export class UnfitSandboxError extends Error {}

/** Retries an idempotent action with growing pauses, while the sandbox exists. */
const patiently = <A>(
  transport: RelayTransport,
  signal: AbortSignal | undefined,
  action: () => Promise<A>,
): Promise<A> =>
  retry(action, {
    attempts: ATTEMPTS,
    signal,
    pauseAfter: async (error, failures) =>
      error instanceof UnfitSandboxError || (await transport.isGone())
        ? undefined
        : doubling(FIRST_PAUSE_MS, failures),
  });

/** A relay in the sandbox, with its connection. */
class OpenRelay {
  readonly #closed = new AbortController();
  readonly #output: RelayOutput;
  #inbox: string | undefined;
  #fail: (error: unknown) => void = () => {};
  /** Rejects if the output that was read is not what the command printed. */
  readonly #failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(
    private readonly transport: RelayTransport,
    private readonly sudo: boolean,
    streams: Pick<LaunchStreams, "onStdoutChunk" | "onStderrChunk">,
  ) {
    this.#failed.catch(() => {});
    const unlessClosed = (callback: (chunk: Buffer) => void) => (chunk: Buffer) => {
      if (!this.#closed.signal.aborted) callback(chunk);
    };
    this.#output = new RelayOutput(
      {
        onStdoutChunk: unlessClosed(streams.onStdoutChunk),
        onStderrChunk: unlessClosed(streams.onStderrChunk),
      },
      {
        onGap: () => this.#catchUp(),
        onTaken: (stream, count) => {
          const written = patiently(this.transport, this.#closed.signal, () =>
            this.#write([takenFile(stream, count)]),
          );
          written.catch(this.#fail);
        },
      },
    );
    void this.#output.inbox.then((inbox) => {
      this.#inbox = inbox;
    });
  }

  /** Starts the relay; nothing runs in it yet. */
  async start(): Promise<void> {
    const process = await this.transport.start(relayArguments(this.transport.ownersDirectory), {
      sudo: this.sudo,
    });
    this.#follow(process).catch(this.#fail);
    try {
      await inTime(() => Promise.race([this.#output.inbox, this.#failed]), { timeoutMs: START_TIMEOUT_MS });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Sends the argv with its input. Sending a file twice has no effect. */
  async feed(argv: readonly string[], input: ExecInput, signal: AbortSignal): Promise<void> {
    let index = 0;
    for await (const { data, isLast } of inputPieces(input, signal)) {
      signal.throwIfAborted();
      const files = [...(index === 0 ? [argvFile(argv)] : []), inputFile(index, data, isLast)];
      await patiently(this.transport, signal, () => this.#write(files));
      index++;
    }
  }

  /** The exit code, once all output has arrived. */
  async result(): Promise<number> {
    const exitCode = await Promise.race([this.#failed, this.#output.ended]);
    for (let pieces = 0; pieces < LAST_PIECES; pieces++) {
      const { received } = this.#output;
      if (await this.#completesInTime()) break;
      await this.#takeKept();
      if (this.#output.received === received) break;
    }
    return exitCode;
  }

  #completesInTime(): Promise<boolean> {
    const grace = new AbortController();
    return Promise.race([
      this.#failed,
      this.#output.completed.then(() => true),
      delay(STREAMS_GRACE_MS, false, { signal: grace.signal }),
    ]).finally(() => grace.abort());
  }

  /** Stops reading. The relay is told in the background; otherwise it would wait for input. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    if (this.#inbox !== undefined) {
      patiently(this.transport, undefined, () => this.#write([OVER_FILE])).catch(() => {});
    }
  }

  #write(files: readonly InboxFile[]): Promise<void> {
    return this.transport.writeFiles(
      files.map(({ name, data }) => ({ path: `${this.#inbox}/${name}`, data })),
      { sudo: this.sudo },
    );
  }

  async #takeKept(): Promise<void> {
    if (this.#inbox === undefined) return;
    const { transport, sudo } = this;
    const inbox = this.#inbox;
    await this.#output.catchUp((name) =>
      patiently(transport, this.#closed.signal, () =>
        transport.readFile(`${inbox}/${name}`, { sudo }, MAX_FILE_BYTES),
      ),
    );
  }

  #catchUp(): void {
    this.#takeKept().catch(this.#fail);
  }

  /** Reads until the command is over, over as many connections as needed. */
  async #follow(process: RelayProcess): Promise<void> {
    const { signal } = this.#closed;
    for (let failures = 0; ; ) {
      const { received } = this.#output;
      const connection = new AbortController();
      const watch = this.#watchSilence(connection);
      let problem: unknown;
      try {
        await process.read(
          {
            openReader: () => this.#output.openReader(),
            onOpen: () => this.#catchUp(),
            due: () => this.#output.due,
            inbox: () => this.#inbox ?? "",
          },
          AbortSignal.any([signal, connection.signal]),
        );
      } catch (error) {
        problem = error;
      } finally {
        clearInterval(watch);
      }
      if (signal.aborted) return;
      if (MISSING_PROGRAM.test(this.#output.noise)) throw new UnfitSandboxError(this.#output.noise);
      if (!this.transport.replays) await this.#takeKept();
      if (await isSettled(this.#output.ended)) return;
      failures = this.#output.received > received ? 0 : failures + 1;
      if (failures >= ATTEMPTS || (await this.transport.isGone())) {
        throw problem ?? new Error("the connection broke");
      }
      if (failures > 0) await pause(doubling(FIRST_PAUSE_MS, failures), signal);
      if (signal.aborted) return;
    }
  }

  #watchSilence(connection: AbortController): NodeJS.Timeout {
    let { received } = this.#output;
    const look = async () => {
      const isSilent = this.#output.received === received;
      if (isSilent) await this.#takeKept();
      if (isSilent && this.#output.received > received) connection.abort();
      received = this.#output.received;
    };
    return setInterval(() => void look().catch(this.#fail), SILENCE_MS).unref();
  }
}

const isSettled = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), Promise.resolve(false)]);

const runRelayed = async (
  transport: RelayTransport,
  argv: readonly string[],
  sudo: boolean,
  { stdin, signal, onStdoutChunk, onStderrChunk }: LaunchStreams,
): Promise<number> => {
  const relay = await patiently(transport, signal, async () => {
    const started = new OpenRelay(transport, sudo, { onStdoutChunk, onStderrChunk });
    await started.start();
    return started;
  });
  const stopWaiting = onAbort(signal, () => relay.close());
  try {
    signal.throwIfAborted();
    const result = relay.result();
    const feeding = relay.feed(argv, stdin, signal);
    return await Promise.race([result, feeding.then(() => result)]);
  } finally {
    stopWaiting();
    relay.close();
  }
};

/** Runs an argv in the sandbox of a service by a relay. */
export const relayed = (
  transport: RelayTransport,
  argv: readonly string[],
  { sudo }: { readonly sudo: boolean },
): LibraryCall => ({ call: (streams) => runRelayed(transport, argv, sudo, streams) });
