import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { ProcessStartError, TerminalError } from "../../errors.ts";
import { onAbort } from "../../tools/wait/onAbort.ts";
import { exitCodeOf } from "../exitCode.ts";
import { findProgram, hostEnvironment } from "../hostPrograms.ts";
import { rememberTerminal } from "./terminalState.ts";

export interface TerminalProcess {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** The complete environment; that of this process by default. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called if this process ends before the program, which must not keep the terminal. Not awaited. */
  readonly onExit?: () => void;
}

/** The signals that a terminal sends to all its processes for a key. */
const KEY_SIGNALS = ["SIGINT", "SIGQUIT"] as const;
const KILL_GRACE_MS = 300;

/** Ignores the signals of keys: they are for the program in the foreground. */
const ignoreKeys = (): (() => void) => {
  const ignore = () => {};
  const before = KEY_SIGNALS.map((name) => ({ name, listeners: process.rawListeners(name) }));
  for (const { name } of before) process.removeAllListeners(name).on(name, ignore);
  return () => {
    for (const { name, listeners } of before) {
      process.off(name, ignore);
      for (const listener of listeners) process.on(name, listener as () => void);
    }
  };
};

const start = (spec: TerminalProcess): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = spawn(findProgram(spec.program, spec.env?.["PATH"]), spec.args, {
      cwd: spec.cwd,
      env: (spec.env as NodeJS.ProcessEnv | undefined) ?? hostEnvironment(),
      stdio: "inherit",
    });
    child.once("spawn", () => resolve(child));
    child.once("error", (cause: NodeJS.ErrnoException) =>
      reject(new ProcessStartError(spec.program, cause.code ?? "unknown", { cause })),
    );
  });

/** Aborted, with an error, when the terminal is closed. Otherwise that would end this process. */
const watchTerminal = (): { readonly closed: AbortSignal; readonly stop: () => void } => {
  const controller = new AbortController();
  const onHangUp = () =>
    controller.abort(new TerminalError("it was closed", "What the agent had committed by then is kept."));
  process.on("SIGHUP", onHangUp);
  return { closed: controller.signal, stop: () => process.off("SIGHUP", onHangUp) };
};

/** Waits until the process has ended. When the signal is aborted, ends it: first with SIGTERM, then with SIGKILL. */
const untilEnded = (child: ChildProcess, signal: AbortSignal): Promise<number> =>
  new Promise((resolve) => {
    const kill = async () => {
      child.kill("SIGTERM");
      await delay(KILL_GRACE_MS);
      child.kill("SIGKILL");
    };
    const stopWaiting = onAbort(signal, () => void kill());
    child.once("exit", (code, name) => {
      stopWaiting();
      resolve(exitCodeOf(code, name));
    });
  });

/**
 * Runs a program in the foreground of the terminal of this process until it ends, then restores the terminal. Resolves with
 * the exit code, or rejects with the identical `signal.reason`.
 */
export const runInTerminal = async (spec: TerminalProcess): Promise<number> => {
  spec.signal?.throwIfAborted();
  // Earlier readers of standard input must not take the keys that are typed now.
  const wasReading = !process.stdin.isPaused() && process.stdin.listenerCount("data") > 0;
  process.stdin.pause();
  let child: ChildProcess | undefined;
  const onExit = () => {
    child?.kill("SIGKILL");
    spec.onExit?.();
  };
  // Before the terminal's settings are restored: no process may be left that could change them again.
  process.once("exit", onExit);
  const restoreTerminal = await rememberTerminal();
  const heedKeys = ignoreKeys();
  const terminal = watchTerminal();
  const ended = spec.signal ? AbortSignal.any([spec.signal, terminal.closed]) : terminal.closed;
  try {
    child = await start(spec);
    const exitCode = await untilEnded(child, ended);
    ended.throwIfAborted();
    return exitCode;
  } finally {
    process.off("exit", onExit);
    terminal.stop();
    await restoreTerminal();
    heedKeys();
    if (wasReading) process.stdin.resume();
  }
};
