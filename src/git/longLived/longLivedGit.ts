import * as Cause from "effect/Cause";
import * as Effect from "effect/Effect";
import * as Exit from "effect/Exit";
import * as Fiber from "effect/Fiber";
import { failOrDie } from "../../boundary/failures.ts";
import { GitError, ProcessTimeoutError, type SandduneError } from "../../errors.ts";
import { git, TIMEOUT_MS } from "../git.ts";

/** The questions to a git process, and its answers. */
export interface Conversation {
  /** The standard input of git. */
  input(): AsyncIterable<Uint8Array>;
  /** Receives the output of git. */
  push(chunk: Buffer): void;
  /** Ends the input. Rejects what was not answered, and all later questions, with `NoAnswer`. */
  end(): void;
}

/** Git ended before it had answered. */
export class NoAnswer extends Error {}

interface Running<C> {
  readonly conversation: C;
  readonly fiber: Fiber.Fiber<unknown, SandduneError>;
  hasEnded: boolean;
}

/** Git ends as soon as it has read its input. */
const END_MS = 5000;

/**
 * A git process that answers any number of questions. It starts with the first question, and again if it was killed. It
 * ends with its input: also when this process dies.
 */
export class LongLivedGit<C extends Conversation> {
  #running: Running<C> | undefined;

  constructor(
    private readonly place: { readonly cwd: string; readonly gitDirectory?: string },
    private readonly args: readonly string[],
    private readonly converse: () => C,
  ) {}

  /** Starts git, unless it is running. Does not wait until it has started. In one step: two fibers may ask at the same time. */
  readonly start: Effect.Effect<Running<C>> = Effect.sync(() => {
    if (this.#running?.hasEnded === false) return this.#running;
    const conversation = this.converse();
    // It answers the questions of later fibers too, so it does not end with this one.
    const fiber = Effect.runFork(
      git(this.args, {
        ...this.place,
        stdin: conversation.input(),
        onStdoutChunk: (chunk) => conversation.push(chunk),
        endsWithInput: true,
      }),
    );
    const running: Running<C> = { conversation, fiber, hasEnded: false };
    fiber.addObserver(() => {
      running.hasEnded = true;
      conversation.end();
    });
    this.#running = running;
    return running;
  });

  /** Asks git. If git ends without an answer, fails with git's error. */
  ask<A>(question: (conversation: C) => Promise<A>): Effect.Effect<A, SandduneError> {
    return Effect.flatMap(this.start, ({ conversation, fiber }) =>
      Effect.callback<A, SandduneError | NoAnswer>((resume) => {
        question(conversation).then(
          (answer) => resume(Effect.succeed(answer)),
          (reason: unknown) => resume(reason instanceof NoAnswer ? Effect.fail(reason) : failOrDie(reason)),
        );
        // An interrupted question has no effect any more, as if git had been started for it alone.
        return Fiber.interrupt(fiber);
      }).pipe(
        Effect.timeoutOrElse({
          duration: TIMEOUT_MS,
          orElse: () => Effect.fail(new ProcessTimeoutError("git", TIMEOUT_MS, "", "")),
        }),
        Effect.catchIf(
          (error): error is NoAnswer => error instanceof NoAnswer,
          () =>
            Effect.andThen(Fiber.await(fiber), (exit) =>
              // Another fiber's interruption does not interrupt this one.
              Exit.isFailure(exit) && !Cause.hasInterrupts(exit.cause)
                ? Effect.failCause(exit.cause)
                : Effect.fail(new GitError(this.args, 0, "git ended before it had answered")),
            ),
        ),
      ),
    );
  }

  /** Ends the input of git, which then ends while other work is done. The caller must call `end` afterwards. */
  endInput(): void {
    this.#running?.conversation.end();
  }

  /** Ends git, and waits until it has ended. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    const running = this.#running;
    if (running === undefined) return Effect.void;
    this.endInput();
    return Fiber.await(running.fiber).pipe(
      Effect.timeoutOrElse({ duration: END_MS, orElse: () => Fiber.interrupt(running.fiber) }),
      Effect.asVoid,
    );
  });
}
