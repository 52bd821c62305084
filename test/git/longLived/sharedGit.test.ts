import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as Effect from "effect/Effect";
import * as Fiber from "effect/Fiber";
import { describe, expect, it, vi } from "vitest";
import { runAtBoundary } from "../../../src/boundary/boundary.ts";
import { GitError } from "../../../src/errors.ts";
import { readingObjects, sharingGit } from "../../../src/git/longLived/sharedGit.ts";
import { resolveCommit, updateRefs } from "../../../src/git/refs.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { gitCalls } from "../../helpers/repository/gitCalls.ts";
import { git, temporaryRepository } from "../../helpers/repository/repository.ts";

const REASON = "sanddune: run 20300102-030405-abcdef";

const placeOf = (cwd: string) => ({ topLevel: cwd, gitDirectory: join(cwd, ".git") });

const sharing = <A>(cwd: string, work: Effect.Effect<A, unknown>): Promise<A> =>
  runAtBoundary(sharingGit(placeOf(cwd), REASON)(work));

const refsOf = (cwd: string) => git(cwd, "for-each-ref", "--format=%(refname)").split("\n");
const headOf = (cwd: string) => git(cwd, "rev-parse", "HEAD");

const commit = (cwd: string, message: string): string => {
  git(cwd, "commit", "--quiet", "--allow-empty", "-m", message);
  return headOf(cwd);
};

const create = (cwd: string, name: string, reason?: string) =>
  updateRefs(cwd, [{ ref: `refs/heads/${name}`, to: headOf(cwd), from: "absent" }], reason);

describe("sessions that share git processes", () => {
  it("change refs in several transactions by one of them, which has ended afterwards", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "one", REASON);
        yield* create(cwd, "two");
        yield* updateRefs(cwd, [{ ref: "refs/heads/one", to: undefined }]);
      }),
    );
    expect(calls.started()).toEqual(["update-ref"]);
    expect(calls.running()).toEqual([]);
    expect(refsOf(cwd)).toEqual(["refs/heads/main", "refs/heads/two"]);
    expect(git(cwd, "reflog", "-1", "--format=%gs", "two")).toBe(REASON);
  });

  it("perform none of a transaction that git refuses, fail with its words, and go on", async () => {
    const cwd = temporaryRepository();
    const failure = await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "taken");
        const refused = yield* Effect.flip(
          updateRefs(cwd, [
            { ref: "refs/heads/new", to: headOf(cwd), from: "absent" },
            { ref: "refs/heads/taken/below", to: headOf(cwd), from: "absent" },
          ]),
        );
        yield* create(cwd, "next");
        return refused;
      }),
    );
    expect(failure).toBeInstanceOf(GitError);
    expect(failure).toMatchObject({ stderr: expect.stringContaining("exists; cannot create") });
    expect(refsOf(cwd)).toEqual(["refs/heads/main", "refs/heads/next", "refs/heads/taken"]);
  });

  it("do not move a ref that something else has moved meanwhile", async () => {
    const cwd = temporaryRepository();
    const first = headOf(cwd);
    const moved = await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "work");
        const second = commit(cwd, "second");
        git(cwd, "update-ref", "refs/heads/work", second);
        yield* Effect.flip(updateRefs(cwd, [{ ref: "refs/heads/work", to: first, from: first }]));
        return second;
      }),
    );
    expect(git(cwd, "rev-parse", "work")).toBe(moved);
  });

  it("see refs and objects that are newer than the process", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    const read = await sharing(
      cwd,
      Effect.gen(function* () {
        const before = yield* resolveCommit(cwd, "refs/heads/main");
        const absent = yield* resolveCommit(cwd, "refs/heads/later");
        const made = commit(cwd, "second");
        git(cwd, "branch", "later");
        git(cwd, "repack", "-adq");
        git(cwd, "pack-refs", "--all", "--prune");
        const after = yield* resolveCommit(cwd, "refs/heads/main");
        const later = yield* resolveCommit(cwd, "refs/heads/later");
        const { type } = (yield* readingObjects(cwd, (reader) => reader.info(made))) ?? {};
        return { absent, isMoved: before !== after, isSeen: after === made && later === made, type };
      }),
    );
    expect(read).toEqual({ absent: undefined, isMoved: true, isSeen: true, type: "commit" });
    expect(calls.started().filter((name) => name === "cat-file")).toHaveLength(1);
    expect(calls.running()).toEqual([]);
  });

  it.runIf(process.platform === "linux")("have them in no checkout, where a git may hold locks", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    const directories = await sharing(
      cwd,
      Effect.gen(function* () {
        yield* resolveCommit(cwd, "HEAD");
        yield* create(cwd, "one");
        return calls.running().map((pid) => readlinkSync(`/proc/${pid}/cwd`));
      }),
    );
    expect(directories).toEqual(["/", "/"]);
  });

  it("start git again after it was killed", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    const [before, after] = await sharing(
      cwd,
      Effect.gen(function* () {
        const first = yield* resolveCommit(cwd, "HEAD");
        for (const pid of calls.running()) process.kill(pid, "SIGKILL");
        yield* Effect.promise(() => calls.ended());
        return [first, yield* resolveCommit(cwd, "HEAD")];
      }),
    );
    expect(before).toBe(headOf(cwd));
    expect(after).toBe(before);
  });

  it("change refs although git was killed a moment before", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "one", REASON);
        for (const pid of calls.running()) process.kill(pid, "SIGKILL");
        yield* create(cwd, "two", REASON);
      }),
    );
    expect(refsOf(cwd)).toEqual(["refs/heads/main", "refs/heads/one", "refs/heads/two"]);
  });

  it("leave no process and no lock behind when they are interrupted in a transaction", async () => {
    const cwd = temporaryRepository();
    const calls = gitCalls();
    // Another git has the lock: this one waits for it.
    git(cwd, "config", "core.filesRefLockTimeout", "60000");
    const lock = join(cwd, ".git/refs/heads/busy.lock");
    mkdirSync(join(cwd, ".git/refs/heads"), { recursive: true });
    writeFileSync(lock, "");
    const controller = new AbortController();
    const reason = new Error("enough");
    const work = sharingGit(placeOf(cwd), REASON)(create(cwd, "busy"));
    const failure = runAtBoundary(work, controller.signal).catch((error: unknown) => error);
    await calls.someRunning();
    controller.abort(reason);
    expect(await failure).toBe(reason);
    expect(calls.running()).toEqual([]);
    expect(refsOf(cwd)).toEqual(["refs/heads/main"]);
    expect(existsSync(lock)).toBe(true);
  });

  it("answer one fiber although another one, which asked the same process, is interrupted", async () => {
    const cwd = temporaryRepository();
    const read = await sharing(
      cwd,
      Effect.gen(function* () {
        let resolve = (): void => {};
        const isInterrupted = new Promise<void>((resolved) => {
          resolve = resolved;
        });
        const never = readingObjects(cwd, () => new Promise(() => {}));
        const one = yield* Effect.forkChild(never, { startImmediately: true });
        const answered = readingObjects(cwd, async (reader) => {
          await isInterrupted;
          return reader.info("HEAD");
        });
        const other = yield* Effect.forkChild(answered, { startImmediately: true });
        yield* Fiber.interrupt(one);
        resolve();
        return yield* Fiber.join(other);
      }),
    );
    expect(read?.sha).toBe(headOf(cwd));
  });

  it("write the time of each change into reflogs, although git reads the clock once", async () => {
    const cwd = temporaryRepository();
    const timeOf = (name: string) =>
      Number(git(cwd, "log", "-g", "-1", "--format=%gd", "--date=unix", name).match(/\d{9,}/)?.[0]);
    await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "one", REASON);
        vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
        const first = timeOf("one");
        yield* Effect.promise(() => waitFor(() => Number(execFileSync("date", ["+%s"])) > first));
        yield* create(cwd, "two", REASON);
      }),
    ).finally(() => vi.useRealTimers());
    expect(timeOf("two")).toBeGreaterThan(timeOf("one"));
  });

  it("fail with git's own error if it cannot answer", async () => {
    const cwd = temporaryRepository();
    writeFileSync(join(cwd, ".git/config"), "[broken");
    const failure = await sharing(cwd, Effect.flip(resolveCommit(cwd, "HEAD")));
    expect(failure).toBeInstanceOf(GitError);
    expect(failure).toMatchObject({ stderr: expect.stringContaining("bad config line") });
  });

  it("ask a git of its own about another repository, and for another reason", async () => {
    const [cwd, other] = [temporaryRepository(), temporaryRepository()];
    commit(other, "second");
    const sha = await sharing(
      cwd,
      Effect.gen(function* () {
        yield* create(cwd, "merged", "sanddune: merge work");
        return yield* resolveCommit(other, "HEAD");
      }),
    );
    expect(sha).toBe(headOf(other));
    expect(git(cwd, "reflog", "-1", "--format=%gs", "merged")).toBe("sanddune: merge work");
  });
});
