import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { interruptible } from "../../src/boundary/interruptible.ts";
import { askingCaller, Turns } from "../../src/boundary/turns.ts";
import { InvalidOptionsError } from "../../src/errors.ts";

const deadlock = () => new InvalidOptionsError("env", "deadlock");

/** A call on `turns` whose caller's function makes a call on `awaited`, once `isReady` resolves. */
const callThatAwaits = (turns: Turns, awaited: Turns, isReady: Promise<void> = Promise.resolve()) =>
  turns.take(
    interruptible(() =>
      askingCaller(async () => {
        await isReady;
        return awaited.unlessDeadlocked(() => awaited.take(Effect.succeed("made")), deadlock);
      }),
    ),
  );

describe("calls on a worktree", () => {
  it("are made one at a time, in their order", async () => {
    const turns = new Turns();
    const happened: string[] = [];
    const call = (name: string) =>
      turns.take(
        Effect.promise(async () => {
          happened.push(`${name} began`);
          await Promise.resolve();
          happened.push(`${name} ended`);
        }),
      );
    await Promise.all([call("first"), call("second")]);
    expect(happened).toEqual(["first began", "first ended", "second began", "second ended"]);
  });

  it("may wait for calls on another worktree, also several times", async () => {
    const [one, other] = [new Turns(), new Turns()];
    expect(await callThatAwaits(one, other)).toBe("made");
    expect(await callThatAwaits(one, other)).toBe("made");
    expect(await callThatAwaits(other, one)).toBe("made");
  });

  it("may not wait for their own worktree", async () => {
    const turns = new Turns();
    await expect(callThatAwaits(turns, turns)).rejects.toThrow("deadlock");
  });

  it("may not wait for each other in a circle", async () => {
    const [one, other, third] = [new Turns(), new Turns(), new Turns()];
    let arrive = () => {};
    const allHaveTheirTurn = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const settled = Promise.allSettled([
      callThatAwaits(one, other, allHaveTheirTurn),
      callThatAwaits(other, third, allHaveTheirTurn),
      callThatAwaits(third, one, allHaveTheirTurn),
    ]);
    arrive();
    // The last one closes the circle; its refusal frees the others.
    expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });

  it("are still known as the waiting call if they had to wait for their turn", async () => {
    const turns = new Turns();
    let end = () => {};
    const first = turns.take(
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            end = resolve;
          }),
      ),
    );
    const second = turns.take(
      interruptible(async () => {
        await first;
        return askingCaller(() => turns.unlessDeadlocked(() => turns.take(Effect.void), deadlock));
      }),
    );
    end();
    await expect(second).rejects.toThrow("deadlock");
  });
});
