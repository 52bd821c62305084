import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KeptSessions } from "../../../src/environment/run/keptSessions.ts";
import { TestSession } from "../../../src/environment/run/testSession.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const withResolvers = () => {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};

const TEN_MINUTES = 10 * 60_000;

/** None that has a process: only the time is looked at. */
const session = (): TestSession => {
  const launch = { tool: "", directory: "", worktree: "", scratch: "" };
  return new TestSession({ launch, parameters: {}, timeoutMs: 1 });
};

it("a test session that nobody uses ends after ten minutes, and not while it is used", async () => {
  const sessions = new KeptSessions();
  const id = await sessions.add(session(), async () => {});
  await vi.advanceTimersByTimeAsync(TEN_MINUTES - 1);
  await sessions.use(id, undefined, () => vi.advanceTimersByTimeAsync(2 * TEN_MINUTES));
  await vi.advanceTimersByTimeAsync(TEN_MINUTES - 1);
  expect(await sessions.use(id, undefined, async () => "still there")).toBe("still there");
  await vi.advanceTimersByTimeAsync(TEN_MINUTES);
  await expect(sessions.use(id, undefined, async () => {})).rejects.toMatchObject({ status: 404 });
});

it("there are at most 16 test sessions, also while they begin; one that has ended makes room", async () => {
  const sessions = new KeptSessions();
  const ids = await Promise.all(Array.from({ length: 15 }, () => sessions.add(session(), async () => {})));
  expect(new Set(ids).size).toBe(15);
  const { promise: begun, resolve: begin } = withResolvers();
  const last = sessions.add(session(), () => begun);
  await expect(sessions.add(session(), async () => {})).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining("End one: DELETE /sessions/{id}"),
  });
  begin();
  await sessions.end(await last);
  expect(ids).not.toContain(await sessions.add(session(), async () => {}));
});

it("runs in one test session take turns", async () => {
  const sessions = new KeptSessions();
  const id = await sessions.add(session(), async () => {});
  const gates = [withResolvers(), withResolvers()];
  const begun: number[] = [];
  const runs = gates.map(({ promise }, index) =>
    sessions.use(id, undefined, () => {
      begun.push(index);
      return promise;
    }),
  );
  gates[1]?.resolve();
  await new Promise(setImmediate);
  expect(begun).toEqual([0]);
  gates[0]?.resolve();
  await Promise.all(runs);
  expect(begun).toEqual([0, 1]);
});
