import { setTimeout as delay } from "node:timers/promises";
import type { ContainerProcess, Sandbox } from "modal";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { inTime } from "../../tools/wait/timeLimit.ts";
import type { ExecInput } from "../contract.ts";
import type { LibraryCall } from "../exec/sandboxAccess.ts";
import { untilAccepted } from "../services/untilAccepted.ts";
import { GRPC, grpcCodeOf } from "./client.ts";

type Process = ContainerProcess<Uint8Array>;

/** Services refuse messages of more than a few mebibytes. */
const MESSAGE_BYTES = 1024 * 1024;
/** Input that is refused usually means that the command has ended; then its output ends, too. */
const REFUSED_INPUT_GRACE_MS = 5000;

export interface ModalExecLimits {
  /** How long the command may run. */
  readonly timeoutMs: number;
  /** How long Modal may take to start it, retries included. */
  readonly startTimeoutMs: number;
}

/** The SDK retries when the service is unreachable, but not when it is overloaded: then nothing was started. */
const start = (
  sandbox: Sandbox,
  argv: readonly string[],
  { timeoutMs, startTimeoutMs }: ModalExecLimits,
  signal: AbortSignal,
): Promise<Process> => {
  const starting = () => sandbox.exec([...argv], { mode: "binary", timeoutMs });
  return untilAccepted((leftMs) => inTime(starting, { timeoutMs: leftMs, signal }), {
    timeoutMs: startTimeoutMs,
    signal,
    transienceOf: (error) => (grpcCodeOf(error) === GRPC.resourceExhausted ? {} : undefined),
  });
};

async function* once(input: string | Uint8Array): AsyncGenerator<Uint8Array> {
  if (input.length > 0) yield typeof input === "string" ? Buffer.from(input) : input;
}

/** Sends input as it arrives, then its end. Stops at once when the signal is aborted, even while the source waits. */
const feed = async ({ stdin }: Process, input: ExecInput, signal: AbortSignal): Promise<void> => {
  const isWhole = typeof input === "string" || input instanceof Uint8Array;
  const chunks = (isWhole ? once(input) : input)[Symbol.asyncIterator]();
  const leave = () => void chunks.return?.();
  const stopWaiting = onAbort(signal, leave);
  const writer = stdin.getWriter();
  try {
    for (;;) {
      const next = signal.aborted ? { done: true as const } : await chunks.next();
      if (next.done) break;
      for (let sent = 0; sent < next.value.length && !signal.aborted; sent += MESSAGE_BYTES) {
        await writer.write(next.value.subarray(sent, sent + MESSAGE_BYTES));
      }
    }
    // Also for an aborted command: input that ends too early keeps it from starting.
    await writer.close();
  } finally {
    stopWaiting();
    leave();
  }
};

const drain = async (
  stream: ReadableStream<Uint8Array>,
  onChunk: (chunk: Buffer) => void,
  signal: AbortSignal,
): Promise<void> => {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  const stopWaiting = onAbort(signal, cancel);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onChunk(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    }
  } finally {
    stopWaiting();
  }
};

/** The SDK resumes broken streams. The API cannot end a command: another command has to kill it. */
export const modalExec = (
  sandbox: Sandbox,
  argv: readonly string[],
  limits: ModalExecLimits,
): LibraryCall => ({
  call: async ({ stdin, signal, onStdoutChunk, onStderrChunk }) => {
    const process = await start(sandbox, argv, limits, signal);
    const over = new AbortController();
    const end = () => over.abort();
    const stopWaiting = onAbort(signal, end);
    try {
      const fed = feed(process, stdin, over.signal);
      const refused = fed.then(
        () => new Promise<never>(() => {}),
        async (error: unknown) => {
          await delay(REFUSED_INPUT_GRACE_MS, undefined, { ref: false });
          throw error;
        },
      );
      refused.catch(() => {});
      const outputs = Promise.all([
        drain(process.stdout, onStdoutChunk, over.signal),
        drain(process.stderr, onStderrChunk, over.signal),
      ]);
      await Promise.race([outputs, refused]);
      signal.throwIfAborted();
      // Only now, because nothing cancels this call: the command has ended.
      return await inTime(() => process.wait(), { timeoutMs: limits.startTimeoutMs, signal });
    } finally {
      stopWaiting();
      end();
    }
  },
});
