import * as Effect from "effect/Effect";
import { describe, expect, it } from "vitest";
import { askingCaller, Turns } from "../../../src/boundary/turns.ts";
import { InvalidOptionsError, SandboxError } from "../../../src/errors.ts";
import { accept, live, reasonOf, settle } from "./lives.ts";

describe("calls", () => {
  it("are made one after the other, in their order, and never at the same time", async () => {
    const { call, happened } = live();
    const calls = ["a", "b", "c"].map((name) => call(name));
    for (const { finish } of calls.toReversed()) finish();
    await Promise.all(calls.map(({ result }) => result));
    expect(happened).toEqual(["a began", "a ended", "b began", "b ended", "c began", "c ended"]);
  });

  it("of all handles on the same worktree run one after the other", async () => {
    const shared = { turns: new Turns(), happened: [] };
    const [one, two] = [live({ ...shared, what: "worktree" }), live(shared)];
    const first = one.call("a");
    const second = two.call("b");
    second.finish();
    await settle();
    expect(shared.happened).toEqual(["a began"]);
    first.finish();
    await Promise.all([first.result, second.result]);
  });

  it("that fail leave the next one free", async () => {
    const { lifecycle, call } = live();
    const failing = lifecycle.call({}, accept, () => Effect.fail(new SandboxError("x", "no")));
    expect(await reasonOf(failing)).toBeInstanceOf(SandboxError);
    const next = call("next");
    next.finish();
    expect(await next.result).toBe("next");
  });

  it("whose options are wrong do not wait for their turn", async () => {
    const { lifecycle, call } = live();
    const going = call("going");
    const wrong = lifecycle.call(
      {},
      () => {
        throw new InvalidOptionsError("agent", "no");
      },
      () => Effect.void,
    );
    expect(await reasonOf(wrong)).toBeInstanceOf(InvalidOptionsError);
    going.finish();
    await going.result;
  });

  it("that another one waits for are refused: they would wait for ever", async () => {
    const { lifecycle } = live();
    const inner = () => reasonOf(lifecycle.call({}, accept, () => Effect.void));
    const outer = lifecycle.call({}, accept, () => Effect.promise(() => askingCaller(inner)));
    expect(await outer).toBeInstanceOf(InvalidOptionsError);
  });

  it("on another handle may be waited for, unless they wait for each other", async () => {
    const { lifecycle: one } = live();
    const { lifecycle: other } = live();
    const asking = (body: () => Promise<unknown>) => () => Effect.promise(() => askingCaller(body));
    const simple = one.call(
      {},
      accept,
      asking(() => other.call({}, accept, () => Effect.succeed("there"))),
    );
    expect(await simple).toBe("there");
    let arrive = () => {};
    const bothAreThere = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const first = one.call(
      {},
      accept,
      asking(async () => {
        await bothAreThere;
        return other.call({}, accept, () => Effect.succeed("first"));
      }),
    );
    const second = other.call(
      {},
      accept,
      asking(() => {
        arrive();
        return reasonOf(settle().then(() => one.call({}, accept, () => Effect.void)));
      }),
    );
    expect(await second).toBeInstanceOf(InvalidOptionsError);
    expect(await first).toBe("first");
  });

  it("by a function that no call waits for any more are made", async () => {
    const { lifecycle } = live();
    let late: Promise<unknown> | undefined;
    const outer = lifecycle.call({}, accept, () =>
      Effect.promise(() =>
        askingCaller(async () => {
          late = settle().then(() => lifecycle.call({}, accept, () => Effect.succeed("late")));
        }),
      ),
    );
    await outer;
    expect(await late).toBe("late");
  });

  it("that are made in the course of another, which does not wait for them, come after it", async () => {
    const { lifecycle } = live();
    const order: string[] = [];
    let second: Promise<unknown> | undefined;
    await lifecycle.call({}, accept, () =>
      Effect.sync(() => {
        second = lifecycle.call({}, accept, () => Effect.sync(() => order.push("second")));
        order.push("first");
      }),
    );
    await second;
    expect(order).toEqual(["first", "second"]);
  });

  it("that are made when another has ended, by the function that waited for it, are made", async () => {
    const { lifecycle } = live();
    const value = (name: string) => () => Effect.succeed(name);
    const second = lifecycle
      .call({}, accept, value("first"))
      .then((first) => lifecycle.call({}, accept, value(`${first}, second`)));
    expect(await second).toBe("first, second");
  });

  it("can be aborted while they run: the reason is identical, and the next one can start", async () => {
    const { call, happened } = live();
    const controller = new AbortController();
    const reason = { why: "enough" };
    const going = call("going", controller.signal);
    await settle();
    controller.abort(reason);
    expect(await reasonOf(going.result)).toBe(reason);
    const next = call("next");
    next.finish();
    await next.result;
    expect(happened).toEqual(["going began", "going ended", "next began", "next ended"]);
  });

  it("can be aborted while they wait: they end at once, never begin, and the others continue", async () => {
    const { call, happened } = live();
    const controller = new AbortController();
    const reason = { why: "enough" };
    const going = call("going");
    const waiting = call("waiting", controller.signal);
    const behind = call("behind");
    await settle();
    controller.abort(reason);
    let rejectedWith: unknown;
    waiting.result.catch((error) => {
      rejectedWith = error;
    });
    await settle();
    const rejectedBeforeItsTurn = rejectedWith;
    going.finish();
    behind.finish();
    await Promise.all([going.result, behind.result]);
    expect(happened).toEqual(["going began", "going ended", "behind began", "behind ended"]);
    expect(await reasonOf(waiting.result)).toBe(reason);
    expect(rejectedBeforeItsTurn).toBe(reason);
  });

  it("with a signal that is aborted already do not begin", async () => {
    const { call, happened } = live();
    const reason = { why: "too late" };
    expect(await reasonOf(call("never", AbortSignal.abort(reason)).result)).toBe(reason);
    expect(happened).toEqual([]);
  });
});
