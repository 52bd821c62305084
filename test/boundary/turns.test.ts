import { setImmediate as nextTick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Turns } from "../../src/boundary/turns.ts";

/** Callers that note when their turn comes, and end it when they are told to. */
const callers = (turns: Turns) => {
  const came: string[] = [];
  const come = (name: string, signal?: AbortSignal) => {
    const turn = turns.take(signal).then((end) => {
      came.push(name);
      return end;
    });
    // Whoever has given up is looked at later.
    turn.catch(() => {});
    return turn;
  };
  return { came, come };
};

const aborted = (reason: unknown): AbortSignal => AbortSignal.abort(reason);

describe("turns", () => {
  it("come in the order in which they were asked for, one at a time", async () => {
    const { came, come } = callers(new Turns());
    const turns = ["first", "second", "third"].map((name) => come(name));
    for (const [index, turn] of turns.entries()) {
      const end = await turn;
      await nextTick();
      expect(came).toHaveLength(index + 1);
      end();
    }
    expect(came).toEqual(["first", "second", "third"]);
  });

  it("come at once when nobody is there any more", async () => {
    const { came, come } = callers(new Turns());
    (await come("first"))();
    (await come("second"))();
    expect(came).toEqual(["first", "second"]);
  });

  it("end once, however often that is said", async () => {
    const { came, come } = callers(new Turns());
    const endFirst = await come("first");
    const second = come("second");
    const third = come("third");
    endFirst();
    endFirst();
    const endSecond = await second;
    endFirst();
    await nextTick();
    expect(came).toEqual(["first", "second"]);
    endSecond();
    (await third)();
  });

  it("that are given up while they wait reject at once, with the identical reason", async () => {
    const { come } = callers(new Turns());
    const end = await come("first");
    const controller = new AbortController();
    const reason = { why: "changed my mind" };
    const waiting = come("second", controller.signal);
    controller.abort(reason);
    expect(await waiting.catch((error) => error)).toBe(reason);
    end();
  });

  it("that are given up do not let anybody behind them come too early", async () => {
    const { came, come } = callers(new Turns());
    const end = await come("first");
    const controller = new AbortController();
    const givenUp = come("second", controller.signal);
    const third = come("third");
    controller.abort();
    await givenUp.catch(() => {});
    await nextTick();
    expect(came).toEqual(["first"]);
    end();
    (await third)();
    expect(came).toEqual(["first", "third"]);
  });

  it("that are given up by everybody leave the next one free", async () => {
    const { came, come } = callers(new Turns());
    const end = await come("first");
    const controllers = [1, 2, 3].map(() => new AbortController());
    const givenUp = controllers.map(({ signal }, index) => come(`given up ${index}`, signal));
    for (const controller of controllers.toReversed()) controller.abort();
    await Promise.allSettled(givenUp);
    end();
    (await come("last"))();
    expect(came).toEqual(["first", "last"]);
  });

  it("are not to be had with a signal that is aborted already, and nobody is kept waiting by it", async () => {
    const { came, come } = callers(new Turns());
    const reason = new Error("no");
    expect(await come("never", aborted(reason)).catch((error) => error)).toBe(reason);
    (await come("next"))();
    expect(came).toEqual(["next"]);
  });

  it("are not taken away by a signal that is aborted once they have come", async () => {
    const { came, come } = callers(new Turns());
    const controller = new AbortController();
    const end = await come("first", controller.signal);
    const second = come("second");
    controller.abort();
    await nextTick();
    expect(came).toEqual(["first"]);
    end();
    (await second)();
  });

  it("that wait for each other in a circle are found out, however many waits there are", () => {
    const [one, other, third] = [new Turns(), new Turns(), new Turns()];
    const done = one.waitFor(other);
    const alsoDone = one.waitFor(other);
    other.waitFor(third);
    done?.();
    expect(third.waitFor(one)).toBeUndefined();
    expect(one.waitFor(one)).toBeUndefined();
    alsoDone?.();
    expect(third.waitFor(one)).toBeDefined();
  });
});
