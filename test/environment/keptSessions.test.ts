import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { KeptSessions } from "../../src/environment/run/keptSessions.ts";
import { TestSession } from "../../src/environment/run/testSession.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

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
