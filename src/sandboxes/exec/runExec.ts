import { randomBytes } from "node:crypto";
import { ProcessStartError, ProcessTimeoutError, SandboxError, SandboxLostError } from "../../errors.ts";
import { killDescendantsOutside } from "../../process/kill/killDescendants.ts";
import { shorten } from "../../tools/shorten.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { MAX_TIMER_MS } from "../../tools/wait/timeLimit.ts";
import type { ExecOptions, ExecResult } from "../contract.ts";
import { execInput } from "./execInput.ts";
import { ExecOutput } from "./execOutput.ts";
import { checkExecRequest, execArguments, execPreamble } from "./execWrapper.ts";
import { exitCodeWithoutMarker, SIGKILL_EXIT_CODE } from "./missingExitMarker.ts";
import { type LaunchEnd, runLaunch } from "./runLaunch.ts";
import type { SandboxAccess } from "./sandboxAccess.ts";

export interface ExecRequest extends ExecOptions {
  readonly command: string;
  /** Each piece of stdout, as bytes. */
  readonly onStdoutChunk?: (chunk: Buffer) => void;
}

const DEFAULT_CAPTURE_BYTES = 1024 * 1024;
/** How long the host process may outlive the command: a background child may hold it up. */
const CLIENT_GRACE_MS = 100;

const commandIsOver = Symbol("the command is over");

/** Runs a command under `execWrapper.ts`. `closed` ends it like the request's own signal. */
export const runExec = async (
  access: SandboxAccess,
  request: ExecRequest,
  closed: AbortSignal,
): Promise<ExecResult> => {
  closed.throwIfAborted();
  request.signal?.throwIfAborted();
  const { command, cwd = access.worktreePath, env = {}, sudo = false, timeoutMs, onActivity } = request;
  checkExecRequest(access.provider, { command, cwd, env });

  const id = randomBytes(16).toString("hex");
  const markerId = randomBytes(16).toString("hex");
  const launch = access.launch(execArguments(id), { sudo, execId: id });
  const client = new AbortController();
  let clientPid: number | undefined;
  let killed: Promise<void> | undefined;
  let callbackFailure: { readonly error: unknown } | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let timeoutTimer: NodeJS.Timeout | undefined;

  const isComplete = () => stdout.exitCode !== undefined && stderr.exitCode !== undefined;
  const stop = (reason: unknown) => {
    if (client.signal.aborted || isComplete()) return;
    // First, while its parent lives: a process that has just started has no other mark.
    if (clientPid !== undefined) killDescendantsOutside(clientPid);
    if (!(closed.aborted && access.closingKills)) killed = access.kill(id, { sudo });
    client.abort(reason);
  };
  /** An error of a callback stops the command, and rejects the exec. */
  const guard = <A extends unknown[]>(callback: ((...values: A) => void) | undefined) =>
    callback &&
    ((...values: A) => {
      try {
        callback(...values);
      } catch (error) {
        callbackFailure ??= { error };
        stop(error);
      }
    });
  const noteActivity = guard(onActivity);
  const forwardStdout = guard(request.onStdoutChunk);

  const captureBytes = request.captureBytes ?? DEFAULT_CAPTURE_BYTES;
  const stdout = new ExecOutput({
    markerId,
    captureBytes,
    onLine: guard(request.onLine),
    onChunk: (chunk) => {
      noteActivity?.();
      forwardStdout?.(chunk);
    },
  });
  const stderr = new ExecOutput({
    markerId,
    captureBytes,
    onLine: guard(request.onStderrLine),
    onChunk: () => noteActivity?.(),
  });
  const receive = (output: ExecOutput) => (chunk: Buffer) => {
    if (client.signal.aborted) return;
    output.push(chunk);
    if (!isComplete()) return;
    input.end();
    if ("call" in launch && launch.endsWithOutput) client.abort(commandIsOver);
    else graceTimer ??= setTimeout(() => client.abort(commandIsOver), CLIENT_GRACE_MS);
  };

  const preamble = execPreamble({ id, markerId, command, cwd, env, fallbackHome: access.fallbackHome });
  const input = execInput(preamble, request.stdin, stop);

  const stopWaiting = [onAbort(request.signal, stop), onAbort(closed, stop)];
  if (timeoutMs !== undefined) {
    const expire = () =>
      stop(new ProcessTimeoutError(shorten(command, 100), timeoutMs, stderr.text(), stdout.text()));
    timeoutTimer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  }

  try {
    const ended = await runLaunch(launch, {
      stdin: input.chunks,
      signal: client.signal,
      onStdoutChunk: receive(stdout),
      onStderrChunk: receive(stderr),
      onStart: (pid) => {
        clientPid = pid;
      },
    }).catch((error: unknown): LaunchEnd => {
      if (error !== commandIsOver) throw error;
      return { exitCode: 0 };
    });
    clearTimeout(timeoutTimer);
    stdout.end();
    stderr.end();
    const exitCode = isComplete()
      ? (stdout.exitCode as number)
      : await exitCodeWithoutMarker(access, {
          execId: id,
          sudo,
          clientExitCode: ended.exitCode,
          problem: ended.problem,
          stderr: stderr.text(),
          signal: client.signal,
        });
    if (callbackFailure !== undefined) throw callbackFailure.error;
    const explanation = exitCode === SIGKILL_EXIT_CODE ? await access.explainKill?.() : undefined;
    if (explanation !== undefined) {
      throw new SandboxLostError(
        access.provider,
        explanation.problem,
        `${explanation.details}\n${stderr.text()}`,
        explanation.isByCommands,
      );
    }
    return { stdout: stdout.text(), stderr: stderr.text(), exitCode };
  } catch (error) {
    await killed;
    if (error instanceof ProcessStartError) {
      throw new SandboxError(access.provider, `could not start ${error.program}`, "", { cause: error });
    }
    throw error;
  } finally {
    clearTimeout(graceTimer);
    clearTimeout(timeoutTimer);
    for (const stopEach of stopWaiting) stopEach();
  }
};
