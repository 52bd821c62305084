import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ProcessInputError, ProcessStartError, ProcessTimeoutError } from "../errors.ts";
import { BoundedCapture } from "../tools/boundedCapture.ts";
import { LineSplitter } from "../tools/lineSplitter.ts";
import { onAbort } from "../tools/wait/onAbort.ts";
import { exitCodeOf } from "./exitCode.ts";
import { findProgram, hostEnvironment } from "./hostPrograms.ts";
import { killGroup } from "./kill/killGroup.ts";

export type ProcessInput = string | Uint8Array | AsyncIterable<Uint8Array>;

export interface ProcessSpec {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The complete environment; that of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input; empty by default. */
  readonly stdin?: ProcessInput;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the process id, which is also the id of its process group. */
  readonly onStart?: (pid: number) => void;
  readonly onStdoutChunk?: (chunk: Buffer) => void;
  readonly onStderrChunk?: (chunk: Buffer) => void;
  readonly onStdoutLine?: (line: string) => void;
  readonly onStderrLine?: (line: string) => void;
  /** Gets the lines of file descriptor 3, a socket: other processes could open a pipe through `/proc`. */
  readonly onChannelLine?: (line: string) => void;
  /** The result keeps the last so many bytes of each stream. */
  readonly captureBytes?: number;
  /** Reads the output of descendants until it is aborted: a pipe without a reader would kill them. */
  readonly keepsReading?: AbortSignal;
  /**
   * A file for both output streams, instead of pipes: if this process died, a pipe without a reader would kill the process
   * in the middle of its work. `stdout` and `stderr` of the result are empty then.
   */
  readonly outputDescriptor?: number;
  /** The encoding of the result; `latin1` preserves every byte. */
  readonly encoding?: BufferEncoding;
}

export interface ProcessResult {
  /** 128 + n if signal n ended the process, which is never success. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  /** Set if the process did not read all of its input. Its exit code shows whether that matters. */
  readonly inputError?: ProcessInputError;
}

const DEFAULT_CAPTURE_BYTES = 1024 * 1024;
const CHANNEL = 3;
/** The time between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 300;
/** A grandchild may keep the pipes open. They are read until nothing comes for a while, or this long. */
const DRAIN_MS = { silence: 250, longest: 2000 } as const;

const feed = async (child: ChildProcess, input: ProcessInput | undefined, program: string) => {
  const stdin = child.stdin;
  if (stdin === null) return undefined;
  try {
    const source =
      typeof input === "string" || input instanceof Uint8Array ? [Buffer.from(input)] : (input ?? []);
    await pipeline(Readable.from(source, { objectMode: false }), stdin);
    return undefined;
  } catch (cause) {
    return new ProcessInputError(program, { cause });
  }
};

/**
 * Starts a process on the host. All other code uses this function.
 *
 * - argv only, never a shell string; the child leads its own process group.
 * - Resolves for every exit code. Rejects with `ProcessStartError`, `ProcessTimeoutError`, or with the identical
 *   `signal.reason`; in the last two cases the whole group was killed before the promise settles.
 * - Memory stays bounded whatever the process prints.
 */
export const runProcess = (spec: ProcessSpec): Promise<ProcessResult> => {
  if (spec.signal?.aborted) return Promise.reject(spec.signal.reason);
  const stdout = new BoundedCapture(spec.captureBytes ?? DEFAULT_CAPTURE_BYTES);
  const stderr = new BoundedCapture(spec.captureBytes ?? DEFAULT_CAPTURE_BYTES);
  const stdoutLines = spec.onStdoutLine && new LineSplitter(spec.onStdoutLine);
  const stderrLines = spec.onStderrLine && new LineSplitter(spec.onStderrLine);
  const channelLines = spec.onChannelLine && new LineSplitter(spec.onChannelLine);

  return new Promise((resolve, reject) => {
    let child: ChildProcess;
    try {
      child = spawn(findProgram(spec.program, spec.env?.["PATH"]), spec.args, {
        cwd: spec.cwd,
        env: (spec.env as NodeJS.ProcessEnv | undefined) ?? hostEnvironment(),
        detached: true,
        stdio: [
          "pipe",
          spec.outputDescriptor ?? "pipe",
          spec.outputDescriptor ?? "pipe",
          ...(channelLines === undefined ? [] : (["pipe"] as const)),
        ],
      });
    } catch (cause) {
      reject(
        new ProcessStartError(spec.program, (cause as NodeJS.ErrnoException).code ?? "unknown", { cause }),
      );
      return;
    }

    if (child.pid !== undefined) spec.onStart?.(child.pid);

    let failure: { readonly reason: unknown } | undefined;
    let exit: { readonly exitCode: number; readonly at: number } | undefined;
    let drainTimer: NodeJS.Timeout | undefined;
    let lastLook: NodeJS.Immediate | undefined;
    let timeoutTimer: NodeJS.Timeout | undefined;
    let settled = false;
    let stopWaiting = () => {};

    const input = feed(child, spec.stdin, spec.program);

    const settle = async () => {
      if (settled) return;
      settled = true;
      clearTimeout(drainTimer);
      clearImmediate(lastLook);
      clearTimeout(timeoutTimer);
      stopWaiting();
      child.stdin?.destroy();
      const closeOutputs = () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        (child.stdio[CHANNEL] as Socket | undefined)?.destroy();
      };
      if (spec.keepsReading === undefined || spec.keepsReading.aborted || failure !== undefined)
        closeOutputs();
      else {
        onAbort(spec.keepsReading, closeOutputs);
        // They are sockets, which would keep this process alive.
        for (const stream of [child.stdout, child.stderr]) (stream as Socket | null)?.unref();
      }
      if (failure !== undefined) {
        reject(failure.reason);
        return;
      }
      const inputError = await input;
      try {
        stdoutLines?.end();
        stderrLines?.end();
        channelLines?.end();
      } catch (error) {
        reject(error);
        return;
      }
      resolve({
        exitCode: (exit as { exitCode: number }).exitCode,
        stdout: stdout.text(spec.encoding),
        stderr: stderr.text(),
        stdoutTruncated: stdout.truncated,
        stderrTruncated: stderr.truncated,
        ...(inputError && { inputError }),
      });
    };

    const fail = (reason: unknown) => {
      if (failure !== undefined || settled) return;
      failure = { reason };
      if (child.pid === undefined) void settle();
      else void killGroup(child.pid, KILL_GRACE_MS).then(settle, settle);
    };

    const restartDrain = () => {
      if (exit === undefined || failure !== undefined || settled) return;
      const left = exit.at + DRAIN_MS.longest - performance.now();
      if (left <= 0 && lastLook !== undefined) return;
      clearTimeout(drainTimer);
      clearImmediate(lastLook);
      lastLook = undefined;
      // In a busy process the timer may fire before pending output was read: check once more.
      const look = () => {
        lastLook = setImmediate(settle);
      };
      drainTimer = setTimeout(look, Math.max(0, Math.min(DRAIN_MS.silence, left)));
    };

    const receive = (
      capture: BoundedCapture,
      lines: LineSplitter | undefined,
      onChunk: ((chunk: Buffer) => void) | undefined,
    ) => {
      return (chunk: Buffer) => {
        if (failure !== undefined) return;
        restartDrain();
        try {
          capture.push(chunk);
          onChunk?.(chunk);
          lines?.push(chunk);
        } catch (error) {
          fail(error);
        }
      };
    };

    stopWaiting = onAbort(spec.signal, fail);
    if (spec.timeoutMs !== undefined) {
      const timeoutMs = spec.timeoutMs;
      timeoutTimer = setTimeout(
        () => fail(new ProcessTimeoutError(spec.program, timeoutMs, stderr.text(), stdout.text())),
        timeoutMs,
      );
    }

    child.stdout?.on("data", receive(stdout, stdoutLines, spec.onStdoutChunk));
    child.stderr?.on("data", receive(stderr, stderrLines, spec.onStderrChunk));
    if (channelLines !== undefined)
      (child.stdio[CHANNEL] as Socket | undefined)?.on("data", (chunk: Buffer) => {
        if (failure !== undefined) return;
        restartDrain();
        try {
          channelLines.push(chunk);
        } catch (error) {
          fail(error);
        }
      });
    child.on("error", (cause) => {
      fail(
        new ProcessStartError(spec.program, (cause as NodeJS.ErrnoException).code ?? "unknown", { cause }),
      );
    });
    child.on("exit", (code, signal) => {
      exit = { exitCode: exitCodeOf(code, signal), at: performance.now() };
      restartDrain();
    });
    child.on("close", () => {
      if (failure === undefined) void settle();
    });
  });
};
