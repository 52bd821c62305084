import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { onAbort, orAborted } from "../../../src/tools/wait/onAbort.ts";
import { bundle } from "../../helpers/bundle.ts";
import { temporaryRepository } from "../../helpers/repository/repository.ts";

describe("waiting for an abort", () => {
  it("calls everything that waits once, with the reason, in the order in which it came", () => {
    const controller = new AbortController();
    const calls: unknown[] = [];
    for (const name of ["a", "b", "c"]) onAbort(controller.signal, (reason) => calls.push([name, reason]));
    controller.abort("stop");
    controller.abort("again");
    expect(calls).toEqual([
      ["a", "stop"],
      ["b", "stop"],
      ["c", "stop"],
    ]);
  });

  it("calls at once what comes after the abort", () => {
    const calls: unknown[] = [];
    onAbort(AbortSignal.abort("late"), (reason) => calls.push(reason));
    expect(calls).toEqual(["late"]);
  });

  it("does not call what has stopped waiting, also if that was while the others were called", () => {
    const controller = new AbortController();
    const calls: string[] = [];
    const stopWaiting = onAbort(controller.signal, () => calls.push("a"));
    onAbort(controller.signal, () => stopSecond());
    const stopSecond = onAbort(controller.signal, () => calls.push("c"));
    stopWaiting();
    stopWaiting();
    onAbort(controller.signal, () => calls.push("d"));
    controller.abort();
    expect(calls).toEqual(["d"]);
  });

  it("rejects with the identical reason instead of waiting for a promise that never settles", async () => {
    const controller = new AbortController();
    const reason = { its: "own" };
    const waiting = orAborted(new Promise(() => {}), controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(orAborted(Promise.resolve(1), undefined)).resolves.toBe(1);
  });
});

it("eleven runs, and eleven tasks of a fleet, on one signal make Node.js print no warning", async () => {
  const program = bundle(join(import.meta.dirname, "runsOnOneSignal.ts"));
  const { stderr } = await promisify(execFile)(process.execPath, [program, temporaryRepository()]);
  expect(stderr).not.toContain("Warning");
});
