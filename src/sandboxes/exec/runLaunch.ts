import { runProcess } from "../../process/runProcess.ts";
import { BoundedCapture } from "../../tools/boundedCapture.ts";
import { orAborted } from "../../tools/wait/onAbort.ts";
import { withTimeLimit } from "../../tools/wait/timeLimit.ts";
import type { ExecInput } from "../contract.ts";
import type { Launch } from "./sandboxAccess.ts";

/** The streams of an argv that runs in a sandbox. */
export interface LaunchStreams {
  readonly stdin: ExecInput;
  readonly signal: AbortSignal;
  readonly onStdoutChunk: (chunk: Buffer) => void;
  readonly onStderrChunk: (chunk: Buffer) => void;
  /** The id of the process on the host, if it is one. */
  readonly onStart?: (pid: number) => void;
}

/** How the host's side of the launch ended. */
export interface LaunchEnd {
  readonly exitCode: number;
  /** Why the connection broke, if it did. */
  readonly problem?: string;
}

const CONNECTION_BROKE = 255;

/** Runs an argv in a sandbox. Rejects with `signal.reason`, and with a `ProcessStartError`. */
export const runLaunch = async (launch: Launch, streams: LaunchStreams): Promise<LaunchEnd> => {
  const { signal } = streams;
  signal.throwIfAborted();
  if ("program" in launch) {
    try {
      if (launch.isReady) await orAborted(launch.isReady(), signal);
    } catch (error) {
      signal.throwIfAborted();
      return { exitCode: CONNECTION_BROKE, problem: String(error) };
    }
    const { exitCode } = await runProcess({ ...launch, ...streams, captureBytes: 0 });
    return { exitCode };
  }
  try {
    return { exitCode: await orAborted(launch.call(streams), signal) };
  } catch (error) {
    signal.throwIfAborted();
    return { exitCode: CONNECTION_BROKE, problem: String(error) };
  }
};

const ANSWER_BYTES = 64 * 1024;

/** Runs a short argv in a sandbox, within a limit, and resolves with its output. Rejects if there is no answer. */
export const askLaunch = async (
  launch: Launch,
  {
    stdin = "",
    timeoutMs,
    signal,
  }: { readonly stdin?: string; readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly exitCode: number; readonly stdout: string }> => {
  const stdout = new BoundedCapture(ANSWER_BYTES);
  const { exitCode, problem } = await withTimeLimit(timeoutMs, signal, (given) =>
    runLaunch(launch, {
      stdin,
      signal: given,
      onStdoutChunk: (chunk) => stdout.push(chunk),
      onStderrChunk: () => {},
    }),
  );
  if (problem !== undefined) throw new Error(problem);
  return { exitCode, stdout: stdout.text() };
};
