import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SandboxError } from "../../../src/errors.ts";
import type { ExecOptions, IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { DeadlineWarning, withDeadlineWarning } from "../../../src/sandboxes/exec/deadlineWarning.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const untilAborted = ({ signal }: Pick<ExecOptions, "signal"> = {}) =>
  new Promise<never>((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** Its commands go on until they are told to stop. */
const endless: IsolatedSandboxHandle = {
  name: "endless",
  worktreePath: "/repo",
  exec: (_, options) => untilAborted(options),
  interactiveExec: (_, options) => untilAborted(options),
  copyIn: async () => {},
  copyFileOut: async () => {},
  close: async () => {},
};

const start = (lifetimeMs: number, leaseMs?: number) => {
  const deadlineWarning = new DeadlineWarning({
    ...{ provider: "mine", atMs: Date.now() + lifetimeMs, lifetimeMs, hint: "Ask for more." },
    ...(leaseMs !== undefined && { leaseMs }),
  });
  const handle = withDeadlineWarning(endless, deadlineWarning);
  let ended: unknown;
  const command = handle.exec("sleep infinity").catch((reason: unknown) => {
    ended = reason;
  });
  return { deadlineWarning, handle, command, ended: () => ended };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("commands of a sandbox that ends", () => {
  it("are ended three minutes before, with what to do", async () => {
    const { ended } = start(60 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(57 * MINUTE_MS - 1);
    expect(ended()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended()).toBeInstanceOf(SandboxError);
    expect(String(ended())).toMatch(/lifetime of 60 minutes is nearly over.*Ask for more\./s);
  });

  it("are left alone for as long as that may be, be it longer than a timer can wait", async () => {
    const { ended } = start(60 * DAY_MS);
    await vi.advanceTimersByTimeAsync(60 * DAY_MS - 3 * MINUTE_MS - 1);
    expect(ended()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended()).toBeInstanceOf(SandboxError);
  });

  it("are ended at the terminal, too", async () => {
    const { handle } = start(60 * MINUTE_MS);
    const session = expect(handle.interactiveExec?.("sh")).rejects.toBeInstanceOf(SandboxError);
    await vi.advanceTimersByTimeAsync(57 * MINUTE_MS);
    await session;
  });

  it("are ended earlier when the engine ends the sandbox earlier, unless it changes its mind", async () => {
    const { deadlineWarning, ended } = start(DAY_MS, 10 * MINUTE_MS);
    deadlineWarning.expectEnd(Date.now() + 10 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(7 * MINUTE_MS - 1);
    deadlineWarning.expectEnd(Date.now() + 10 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(7 * MINUTE_MS - 1);
    expect(ended()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(String(ended())).toMatch(
      /its lifetime of 17 minutes was not extended and is nearly over.*Ask for more\./s,
    );
  });

  it("that begin when there is little time left are those that bring work home", async () => {
    const { handle } = start(60 * MINUTE_MS);
    await vi.advanceTimersByTimeAsync(58 * MINUTE_MS);
    let isEnded = false;
    handle.exec("git bundle").catch(() => {
      isEnded = true;
    });
    await vi.advanceTimersByTimeAsync(30 * MINUTE_MS);
    expect(isEnded).toBe(false);
  });

  it("end with their own signal, and its reason", async () => {
    const { handle } = start(60 * MINUTE_MS);
    const reason = new Error("enough");
    await expect(handle.exec("x", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it("leave no timer behind when the sandbox is closed", async () => {
    const { handle } = start(60 * MINUTE_MS);
    await handle.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
