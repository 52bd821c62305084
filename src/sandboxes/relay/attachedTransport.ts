import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import { inTime, withTimeLimit } from "../../tools/wait/timeLimit.ts";
import { runLaunch } from "../exec/runLaunch.ts";
import type { Launch, SandboxAccess } from "../exec/sandboxAccess.ts";
import {
  attachScript,
  NONE,
  readArguments,
  scriptArguments,
  startScript,
  THERE,
  writeArguments,
} from "./attachScript.ts";
import { Connection, type SentFile } from "./connection.ts";
import type { Reachability } from "./reachability.ts";
import {
  type RelayListener,
  type RelayProcess,
  type RelayTransport,
  relayed,
  UnfitSandboxError,
} from "./relay.ts";
import { uploadTimeoutMs } from "./uploadTimeout.ts";

const HELLO_TIMEOUT_MS = 30_000;
const READ_TIMEOUT_MS = 30_000;
const WRITE_TIMEOUT_MS = 30_000;

type PlainLaunch = SandboxAccess["launch"];

/** Runs a relay through a client on the host, such as `kubectl exec`. One for each command, whose connection carries its files. */
class AttachedTransport implements RelayTransport {
  readonly ownersDirectory = "/";
  readonly replays = true;
  #connection: Connection | undefined;

  constructor(
    private readonly launch: PlainLaunch,
    private readonly reach: Reachability,
  ) {}

  async start(argv: readonly string[], { sudo }: { readonly sudo: boolean }): Promise<RelayProcess> {
    await this.reach.wait();
    let first: Connection | undefined = this.#connect(startScript(argv), sudo);
    const pipes = await this.#pipesOf(first);
    return {
      read: async (listener, signal) => {
        const connection = first ?? (await this.#attach(pipes, listener, sudo));
        first = undefined;
        await this.#listen(connection, listener, signal);
      },
    };
  }

  async writeFiles(files: readonly SentFile[], { sudo }: { readonly sudo: boolean }): Promise<void> {
    const connection = this.#connection;
    const write = async () => {
      for (const file of files) {
        if (connection?.isOpen) await connection.send(file);
        else await this.#writeAlone(file, sudo);
      }
    };
    await inTime(write, { timeoutMs: uploadTimeoutMs(files, WRITE_TIMEOUT_MS) });
  }

  async readFile(path: string, { sudo }: { readonly sudo: boolean }, maxBytes: number) {
    const said = await this.#ask(readArguments(path), sudo, new Uint8Array(), maxBytes + THERE.length + 1);
    if (said === NONE) return undefined;
    const content = said.slice(0, -THERE.length);
    if (!said.endsWith(THERE) || content.length > maxBytes) throw new Error(`${path} could not be read`);
    return content;
  }

  isGone = async (): Promise<boolean> => this.reach.isLost;

  #connect(script: string, sudo: boolean): Connection {
    const bytes = Buffer.from(script);
    const connection = new Connection(this.launch(scriptArguments(bytes), { sudo }), bytes);
    this.#connection = connection;
    return connection;
  }

  async #attach(pipes: string, { due, inbox }: RelayListener, sudo: boolean): Promise<Connection> {
    await this.reach.wait();
    const connection = this.#connect(attachScript({ pipes, inbox: inbox(), due: due() }), sudo);
    await this.#pipesOf(connection);
    return connection;
  }

  async #pipesOf(connection: Connection): Promise<string> {
    const ended = connection.ended.then((problem): never => {
      throw new Error(problem);
    });
    ended.catch(() => {});
    try {
      return await inTime(() => Promise.race([connection.pipes, ended]), { timeoutMs: HELLO_TIMEOUT_MS });
    } catch (error) {
      connection.end();
      if (!(error instanceof UnfitSandboxError)) {
        this.reach.suspect();
        await this.reach.wait();
      }
      throw error;
    }
  }

  async #listen(connection: Connection, listener: RelayListener, signal: AbortSignal): Promise<void> {
    connection.listen(listener.openReader());
    const end = await orAborted(connection.ended, signal).catch(() => "left" as const);
    if (signal.aborted) {
      connection.leave();
      return;
    }
    this.reach.suspect();
    await this.reach.wait(signal);
    throw new Error(end ?? "the connection broke");
  }

  async #writeAlone({ path, data }: SentFile, sudo: boolean): Promise<void> {
    await this.reach.wait();
    await this.#ask(writeArguments(path), sudo, data, 1);
  }

  async #ask(argv: readonly string[], sudo: boolean, stdin: Uint8Array, maxBytes: number): Promise<string> {
    await this.reach.wait();
    const output = new BoundedCapture(maxBytes);
    const { exitCode, problem } = await withTimeLimit(READ_TIMEOUT_MS, undefined, (signal) =>
      runLaunch(this.launch(argv, { sudo }), {
        stdin,
        signal,
        onStdoutChunk: (chunk) => output.push(chunk),
        onStderrChunk: () => {},
      }),
    );
    if (exitCode !== 0 || problem !== undefined) {
      this.reach.suspect();
      throw new Error(problem ?? `its client ended with ${exitCode}`);
    }
    return output.text();
  }
}

/**
 * Runs commands so that they outlive their connection: when it breaks, another one continues where it stopped, with no output
 * lost or repeated. In a sandbox that lacks the needed programs, commands run directly, and are lost with the connection.
 */
export const attachable = (plain: PlainLaunch, reach: Reachability): PlainLaunch => {
  return (argv, options): Launch => {
    const launch = plain(argv, options);
    if (options.execId === undefined || options.terminal) return launch;
    return {
      call: async (streams) => {
        await reach.wait(streams.signal);
        const transport = new AttachedTransport(plain, reach);
        try {
          return await relayed(transport, argv, options).call(streams);
        } catch (error) {
          if (!(error instanceof UnfitSandboxError)) throw error;
          const { exitCode, problem } = await runLaunch(launch, streams);
          if (problem !== undefined) throw new Error(problem);
          return exitCode;
        }
      },
    };
  };
};
