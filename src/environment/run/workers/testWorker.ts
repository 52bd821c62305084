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
  /** The program for environments. */
  readonly tool: string;
}

/** What came of a task. Once `isOver`, the process is of no use any more. */
export type TaskOutcome =
  | { readonly isDone: true; readonly value: unknown }
  | { readonly isDone: false; readonly message: string; readonly isOver: boolean };

/** Between being asked to end and being killed: a test has nothing to tidy up that `teardown` does not. */
const GRACE_MS = 100;
/** Of what a process has printed before it ended unexpectedly. */
const LAST_WORDS_LENGTH = 1500;

const readReply = (line: string): WorkerReply | undefined => {
  const value = parseObject(line);
  return isText(value?.["id"]) ? (value as unknown as WorkerReply) : undefined;
};

const endMessage = (exitCode: number, output: string): string => {
  const words = output.trim().slice(-LAST_WORDS_LENGTH);
  return `its process ended with exit code ${exitCode}${words === "" ? "" : `\nIt printed last:\n${words}`}`;
};

/** A child process that runs tests: one thing at a time, each within its time. */
export class TestWorker {
  readonly #process: Dependent;
  #waiting: { readonly id: string; readonly settle: (outcome: TaskOutcome) => void } | undefined;
  #isOver = false;

  constructor(launch: WorkerLaunch) {
    this.#process = startDependent({
      program: process.execPath,
      args: ["--no-warnings", launch.tool, "worker"],
      // It enters the worktree when it loads the definition: there may be none yet.
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

  /** Rejects only with `signal.reason`. When the time is over, or nobody wants it any more, the process is gone first. */
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
    const stopWaiting = onAbort(signal, () => this.#stop("nobody waits for it any more"));
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

  /** Ends it with everything that it has started. Idempotent, never rejects. */
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
