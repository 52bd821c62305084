import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import { GitError, type SandduneError } from "../../errors.ts";
import type { Repository } from "../repository.ts";
import { LongLivedGit } from "./longLivedGit.ts";
import { ObjectReader } from "./objectReader.ts";
import { RefTransactions } from "./refTransactions.ts";

/** An entry in a reflog may be this much too old. Short runs need no second process. */
const CLOCK_FRESH_MS = 30_000;

type Place = Pick<Repository, "topLevel" | "gitDirectory">;

const objectReader = (place: { readonly cwd: string; readonly gitDirectory?: string }) =>
  new LongLivedGit(place, ["cat-file", "--batch-command"], () => new ObjectReader());

/**
 * The git processes that one session asks again and again: one changes refs, the other reads objects. Each starts when it
 * is needed. Starting git takes longer than most of its answers.
 */
export class GitProcesses {
  readonly #refs: LongLivedGit<RefTransactions>;
  readonly #objects: LongLivedGit<ObjectReader>;
  #isOver = false;
  #isMovingRefs = false;
  /** Git reads the clock once, for its first entry in a reflog. */
  #readsClockAt: number | undefined;

  readonly cwd: string;

  constructor(
    { topLevel, gitDirectory }: Place,
    /** For reflogs. */
    readonly reason: string,
  ) {
    const updateRef = ["update-ref", "-m", reason, "--no-deref", "--stdin"];
    // Idle for as long as an agent works, so in no checkout. The lock of a ref lives for one transaction.
    const place = { cwd: topLevel, gitDirectory };
    this.cwd = topLevel;
    this.#refs = new LongLivedGit(place, updateRef, () => new RefTransactions());
    this.#objects = objectReader(place);
  }

  canRead(cwd: string): boolean {
    return !this.#isOver && cwd === this.cwd;
  }

  /**
   * Performs the commands of one transaction. Resolves with `false` if they are not for this process. Without a reason, any
   * will do: refs that are not branches have no reflog.
   */
  tryUpdateRefs(
    cwd: string,
    commands: readonly string[],
    reason: string | undefined,
  ): Effect.Effect<boolean, SandduneError> {
    return Effect.suspend(() => {
      const isOurs = reason === undefined || reason === this.reason;
      if (!this.canRead(cwd) || this.#isMovingRefs || !isOurs) return Effect.succeed(false);
      this.#isMovingRefs = true;
      const renewed = reason === undefined ? Effect.void : this.#renewClock;
      return Effect.andThen(renewed, this.#moveRefs(commands)).pipe(
        Effect.as(true),
        Effect.ensuring(
          Effect.sync(() => {
            this.#isMovingRefs = false;
          }),
        ),
      );
    });
  }

  #moveRefs(commands: readonly string[]): Effect.Effect<void, SandduneError> {
    return Effect.suspend(() => {
      this.#readsClockAt ??= Date.now();
      return this.#refs.ask((refs) => refs.commit(commands));
    });
  }

  /** Ends the process that changes refs if its entries in reflogs would have an old time. */
  readonly #renewClock: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#readsClockAt === undefined || Date.now() - this.#readsClockAt < CLOCK_FRESH_MS)
      return Effect.void;
    this.#readsClockAt = undefined;
    return this.#refs.end;
  });

  read<A>(read: (reader: ObjectReader) => Promise<A>): Effect.Effect<A, SandduneError> {
    // A git that was killed since the last question may not be known to have ended. Reading again changes nothing.
    return Effect.retry(this.#objects.ask(read), { times: 1, while: (error) => error instanceof GitError });
  }

  /** Starts the other one while something else takes its time. */
  readonly prepareToUpdateRefs: Effect.Effect<void> = Effect.suspend(() =>
    this.#isOver ? Effect.void : Effect.asVoid(this.#refs.start),
  );

  /** Starts the reader while something else takes its time. */
  readonly prepareToRead: Effect.Effect<void> = Effect.suspend(() =>
    this.#isOver ? Effect.void : Effect.asVoid(this.#objects.start),
  );

  /** No process is started any more, and those that run end soon. */
  finish(): void {
    this.#isOver = true;
    this.#refs.endInput();
    this.#objects.endInput();
  }

  /** Waits until the processes have ended. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#isOver = true;
    return Effect.all([this.#refs.end, this.#objects.end], { concurrency: "unbounded", discard: true });
  });
}

/** The processes of the current session; without them, git is started for each question. */
export const SharedGit = Context.Reference<GitProcesses | undefined>("sanddune/SharedGit", {
  defaultValue: () => undefined,
});

/** Calls `read` with a reader for the objects of a repository. */
export const readingObjects = Effect.fnUntraced(function* <A>(
  cwd: string,
  read: (reader: ObjectReader) => Promise<A>,
): Effect.fn.Return<A, SandduneError> {
  const shared = yield* SharedGit;
  if (shared?.canRead(cwd)) return yield* shared.read(read);
  const own = objectReader({ cwd });
  return yield* Effect.ensuring(own.ask(read), own.end);
});

/** Lets the git processes of `work` be shared. They have ended when it has. */
export const sharingGit =
  (place: Place, reason: string) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const processes = new GitProcesses(place, reason);
      return work.pipe(Effect.provideService(SharedGit, processes), Effect.ensuring(processes.end));
    });

/** Starts the process that changes refs, if the session has not ended. */
export const prepareToUpdateRefs = Effect.gen(function* () {
  yield* (yield* SharedGit)?.prepareToUpdateRefs ?? Effect.void;
});

/** Starts the process that reads objects, if the session has not ended. */
export const prepareToRead = Effect.gen(function* () {
  yield* (yield* SharedGit)?.prepareToRead ?? Effect.void;
});
