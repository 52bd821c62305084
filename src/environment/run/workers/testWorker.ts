import { randomUUID } from "node:crypto";
import { type Dependent, startDependent } from "../../../process/dependent.ts";
import { parseObject } from "../../../tools/json/parseJson.ts";
import { shorten } from "../../../tools/shorten.ts";
import { isText } from "../../../tools/values/predicates.ts";
import { onAbort } from "../../../tools/wait/onAbort.ts";
import { MAX_MESSAGE_LENGTH } from "../../limits.ts";
import type { TestPlace, WorkerReply, WorkerTask } from "../../worker/messages.ts";
import { environmentOf } from "../envVars.ts";

export interface WorkerLaunch extends TestPlace {
  readonly tool: string;
}

/** The outcome of a task. Once `isOver`, the worker cannot be used any more. */
export type TaskOutcome =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly message: string; readonly isOver: boolean };

/** Between the request to end and the kill. Short, because `teardown` cleans up. */
const GRACE_MS = 100;
/** Of the output of a process that ended unexpectedly. */
const MAX_OUTPUT_LENGTH = 1500;

const readReply = (line: string): WorkerReply | undefined => {
  const value = parseObject(line);
  return isText(value?.["id"]) ? (value as unknown as WorkerReply) : undefined;
};

const endMessage = (exitCode: number, output: string): string => {
  const words = output.trim().slice(-MAX_OUTPUT_LENGTH);
  return `its process ended with exit code ${exitCode}${words === "" ? "" : `\nIts last output:\n${words}`}`;
};

/** A child process that runs tests: one task at a time, each with a time limit. */
export class TestWorker {
  readonly #process: Dependent;
  #waiting: { readonly id: string; readonly settle: (outcome: TaskOutcome) => void } | undefined;
  #isOver = false;

  constructor(launch: WorkerLaunch) {
    this.#process = startDependent({
      program: process.execPath,
      args: ["--no-warnings", launch.tool, "worker"],
      // The worktree may not exist yet: the worker enters it when it loads the definition.
      cwd: launch.directory,
      env: environmentOf(launch),
      graceMs: GRACE_MS,
      onMessage: (line) => this.#receive(readReply(line)),
    });
    void this.#process.exited.then((exitCode) => this.#stop(endMessage(exitCode, this.#process.output())));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Rejects only with `signal.reason`. After a time-out or an abort, the process is gone before this settles. */
  async ask(task: WorkerTask, timeoutMs: number, signal?: AbortSignal): Promise<TaskOutcome> {
    signal?.throwIfAborted();
    const id = randomUUID();
    const answered = new Promise<TaskOutcome>((settle) => {
      this.#waiting = { id, settle };
    });
    const timer = setTimeout(
      () => this.#stop(`it took longer than ${timeoutMs} ms and was stopped`),
      timeoutMs,
    );
    const stopWaiting = onAbort(signal, () => this.#stop("it was aborted"));
    this.#process.send(JSON.stringify({ ...task, id }));
    try {
      const outcome = await answered;
      if (!outcome.isDone && outcome.isOver) await this.end();
      signal?.throwIfAborted();
      return outcome;
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  /** Ends it with all processes that it has started. Idempotent, never rejects. */
  end(): Promise<void> {
    this.#stop("it was ended");
    return this.#process.end();
  }

  #receive(reply: WorkerReply | undefined): void {
    if (reply === undefined || reply.id !== this.#waiting?.id) return;
    if (reply.isDone === true) this.#settle({ isDone: true, value: reply.value });
    else {
      const { message, isSpent } = reply;
      if (isSpent) this.#isOver = true;
      this.#settle({
        isDone: false,
        message: shorten(String(message), MAX_MESSAGE_LENGTH),
        isOver: isSpent === true,
      });
    }
  }

  #stop(message: string): void {
    this.#isOver = true;
    this.#settle({ isDone: false, message, isOver: true });
  }

  #settle(outcome: TaskOutcome): void {
    this.#waiting?.settle(outcome);
    this.#waiting = undefined;
  }
}
