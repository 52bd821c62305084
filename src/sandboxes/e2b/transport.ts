import type { CommandHandle, Sandbox } from "e2b";
import { shellQuote } from "../../tools/shellQuote.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import type { RelayReader } from "../relay/output.ts";
import type { RelayListener, RelayProcess, RelayTransport } from "../relay/relay.ts";
import { uploadTimeoutMs } from "../relay/uploadTimeout.ts";
import { boundedText } from "../services/boundedText.ts";
import { callE2b, type E2bCall } from "./callE2b.ts";
import { type E2bSdk, isNotFound } from "./client.ts";

/** The SDK keeps all output of one connection in memory: after so many characters, a new one is opened. */
const CONNECTION_CHARACTERS = 8 * 1024 * 1024;

/** Buffers text until its reader is attached. */
class LateReader implements RelayReader {
  #reader: RelayReader | undefined;
  readonly #early: ["stdout" | "stderr", string][] = [];
  #characters = 0;
  #fill: () => void = () => {};
  readonly full = new Promise<"full">((resolve) => {
    this.#fill = () => resolve("full");
  });

  stdout = (text: string): void => this.#pass("stdout", text);
  stderr = (text: string): void => this.#pass("stderr", text);

  attach(reader: RelayReader): void {
    this.#reader = reader;
    for (const [stream, text] of this.#early.splice(0)) reader[stream](text);
  }

  #pass(stream: "stdout" | "stderr", text: string): void {
    if (this.#reader === undefined) this.#early.push([stream, text]);
    else this.#reader[stream](text);
    this.#characters += text.length;
    if (this.#characters > CONNECTION_CHARACTERS) this.#fill();
  }
}

interface Connection {
  readonly handle: CommandHandle;
  readonly reader: LateReader;
  /** Settles when the process is over, or the connection broken. */
  readonly ended: Promise<"ended">;
}

/** Runs commands in an E2B sandbox. */
export const e2bTransport = (
  sdk: E2bSdk,
  sandbox: Sandbox,
  { ownersDirectory, timeoutMs }: { readonly ownersDirectory: string; readonly timeoutMs: number },
): RelayTransport => {
  const { sandboxId, commands, files } = sandbox;
  const userOf = (sudo: boolean) => (sudo ? { user: "root" } : {});

  const connection = async (
    open: (
      options: E2bCall & {
        onStdout: (text: string) => void;
        onStderr: (text: string) => void;
        timeoutMs: number;
      },
    ) => Promise<CommandHandle>,
  ): Promise<Connection> => {
    const reader = new LateReader();
    const { stdout: onStdout, stderr: onStderr } = reader;
    // By default a command is ended after a minute.
    const handle = await callE2b((call) => open({ ...call, onStdout, onStderr, timeoutMs: 0 }), {
      timeoutMs,
    });
    const ended = handle.wait().then(
      () => "ended" as const,
      (error: unknown) => {
        if (error instanceof sdk.CommandExitError) return "ended" as const;
        throw error;
      },
    );
    ended.catch(() => {});
    return { handle, reader, ended };
  };

  const readAll = async (
    first: Connection,
    reopen: () => Promise<Connection>,
    { openReader, onOpen }: RelayListener,
    signal: AbortSignal,
  ): Promise<void> => {
    let current = first;
    const leave = () => void current.handle.disconnect();
    const stopWaiting = onAbort(signal, leave);
    try {
      for (;;) {
        signal.throwIfAborted();
        current.reader.attach(openReader());
        if ((await Promise.race([current.ended, current.reader.full])) === "ended") return;
        const next = await reopen();
        // E2B does not send again what was in transit.
        leave();
        current = next;
        onOpen();
      }
    } finally {
      stopWaiting();
      leave();
    }
  };

  return {
    ownersDirectory,
    start: async (argv, { sudo }): Promise<RelayProcess> => {
      const command = `exec ${argv.map(shellQuote).join(" ")}`;
      let first: Connection | undefined = await connection((options) =>
        commands.run(command, { ...options, ...userOf(sudo), background: true }),
      );
      const { pid } = first.handle;
      const reopen = () => connection((options) => commands.connect(pid, options));
      return {
        read: async (listener, signal) => {
          const isFirst = first !== undefined;
          const opened = first ?? (await reopen());
          first = undefined;
          // E2B does not send again what was printed without a connection.
          if (!isFirst) listener.onOpen();
          await readAll(opened, reopen, listener, signal);
        },
      };
    },
    writeFiles: async (written, { sudo }) => {
      const entries = written.map(({ path, data }) => ({
        path,
        data: new Blob([data as Uint8Array<ArrayBuffer>]),
      }));
      await callE2b((call) => files.write(entries, { ...call, ...userOf(sudo) }), {
        timeoutMs: uploadTimeoutMs(written, timeoutMs),
      });
    },
    readFile: async (path, { sudo }, maxBytes) => {
      const options = { ...userOf(sudo), format: "stream" } as const;
      const read = async (call: E2bCall) =>
        boundedText(await files.read(path, { ...call, ...options }), maxBytes);
      return callE2b(read, { timeoutMs }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    },
    isGone: () =>
      callE2b((call) => sdk.Sandbox.getInfo(sandboxId, call), { timeoutMs }).then(
        ({ state }) => state !== "running",
        isNotFound,
      ),
  };
};
