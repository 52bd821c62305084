import { describe, expect, it } from "vitest";
import { Turns } from "../../../src/boundary/turns.ts";
import { ClosedError } from "../../../src/errors.ts";
import { live, reasonOf, settle } from "./lives.ts";

describe("closing", () => {
  it("happens once, and every call of close() gets the same result", async () => {
    const { lifecycle, happened } = live();
    const [first, second] = await Promise.all([lifecycle.close(), lifecycle.close()]);
    const third = await lifecycle.close();
    await lifecycle.dispose();
    expect(happened).toEqual(["sandbox closed"]);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it("stops the current call, waits until it has cleaned up, and lets no other begin", async () => {
    const { lifecycle, call, happened } = live();
    const going = call("going");
    const waiting = call("waiting");
    await settle();
    await lifecycle.close();
    expect(happened).toEqual(["going began", "going ended", "sandbox closed"]);
    for (const { result } of [going, waiting]) expect(await reasonOf(result)).toBeInstanceOf(ClosedError);
  });

  it("is reported to every later call, with what was closed", async () => {
    const { lifecycle, call, happened } = live({ what: "worktree" });
    const closing = lifecycle.close();
    expect(await reasonOf(call("during").result)).toBeInstanceOf(ClosedError);
    await closing;
    expect(await reasonOf(call("after").result)).toMatchObject({ name: "ClosedError", handle: "worktree" });
    expect(happened).toEqual(["worktree closed"]);
  });

  it("closes first what was created in it, while a call runs there, and reports it to that call", async () => {
    const shared = { turns: new Turns(), happened: [] as string[] };
    const outer = live({ ...shared, what: "worktree" });
    const inner = live({ ...shared, what: "sandbox" });
    outer.lifecycle.adopt(inner.lifecycle);
    const going = inner.call("inside");
    await settle();
    await outer.lifecycle.close();
    expect(shared.happened).toEqual(["inside began", "inside ended", "sandbox closed", "worktree closed"]);
    expect(await reasonOf(going.result)).toMatchObject({ handle: "sandbox" });
    await inner.lifecycle.close();
    expect(shared.happened).toHaveLength(4);
  });

  it("of something inside leaves what it is in open", async () => {
    const shared = { turns: new Turns(), happened: [] as string[] };
    const outer = live({ ...shared, what: "worktree" });
    const inner = live({ ...shared, what: "sandbox" });
    outer.lifecycle.adopt(inner.lifecycle);
    await inner.lifecycle.close();
    const next = outer.call("next");
    next.finish();
    expect(await next.result).toBe("next");
    expect(shared.happened).toEqual(["sandbox closed", "next began", "next ended"]);
  });

  it("waits for the current call of another handle on the same worktree", async () => {
    const shared = { turns: new Turns(), happened: [] as string[] };
    const [one, two] = [live(shared), live({ ...shared, what: "worktree" })];
    const going = two.call("theirs");
    await settle();
    const closing = one.lifecycle.close();
    await settle();
    expect(shared.happened).toEqual(["theirs began"]);
    going.finish();
    await closing;
    expect(shared.happened).toEqual(["theirs began", "theirs ended", "sandbox closed"]);
  });

  it("tells what it has to say, and not again what the making said", async () => {
    const { lifecycle } = live({
      atClose: (progress) => {
        progress.warn("said by the closing");
        progress.preservedWorktreePath = "/kept";
      },
    });
    expect(lifecycle.warnings).toEqual(["said by the making"]);
    expect(await lifecycle.close()).toEqual({
      commits: [],
      preservedWorktreePath: "/kept",
      warnings: ["said by the closing"],
    });
    expect(lifecycle.warnings).toEqual(["said by the making"]);
  });

  it("resolves even if something breaks on the way, and says so", async () => {
    const { lifecycle } = live({
      atClose: () => {
        throw new Error("the disk is gone");
      },
    });
    expect((await lifecycle.close()).warnings).toEqual([expect.stringContaining("the disk is gone")]);
  });

  it("frees the turn for other handles, even if closing fails", async () => {
    const turns = new Turns();
    const { lifecycle } = live({
      turns,
      atClose: () => {
        throw new Error("the disk is gone");
      },
    });
    const other = live({ turns }).call("other");
    other.finish();
    await lifecycle.close();
    expect(await other.result).toBe("other");
  });
});
