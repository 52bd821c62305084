import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { ProcessStartError } from "../../../src/errors.ts";
import { askLaunch, type LaunchStreams, runLaunch } from "../../../src/sandboxes/exec/runLaunch.ts";
import type { Launch } from "../../../src/sandboxes/exec/sandboxAccess.ts";

const sh = (command: string): Launch => ({ program: "sh", args: ["-c", command] });

const streams = (signal = new AbortController().signal) => {
  const printed = { out: "", err: "" };
  const given: LaunchStreams = {
    stdin: "input",
    signal,
    onStdoutChunk: (chunk) => {
      printed.out += chunk.toString();
    },
    onStderrChunk: (chunk) => {
      printed.err += chunk.toString();
    },
  };
  return { given, printed };
};

it("a process and a call have the same streams and the same end", async () => {
  const call: Launch = {
    call: async ({ stdin, onStdoutChunk, onStderrChunk }) => {
      onStdoutChunk(Buffer.from(String(stdin)));
      onStderrChunk(Buffer.from("err"));
      return 3;
    },
  };
  for (const launch of [call, sh("cat; printf err >&2; exit 3")]) {
    const { given, printed } = streams();
    expect(await runLaunch(launch, given)).toEqual({ exitCode: 3 });
    expect(printed).toEqual({ out: "input", err: "err" });
  }
});

it.each<[string, () => Promise<number>]>([
  ["rejects", () => Promise.reject(new Error("reset"))],
  [
    "throws",
    () => {
      throw new Error("reset");
    },
  ],
])("a call that %s has lost its connection", async (_, call) => {
  expect(await runLaunch({ call }, streams().given)).toEqual({ exitCode: 255, problem: "Error: reset" });
});

it("a program that is missing cannot be started", async () => {
  const launch = { program: "no-such-program-anywhere", args: [] };
  await expect(runLaunch(launch, streams().given)).rejects.toBeInstanceOf(ProcessStartError);
});

it("an abort is its reason, whether the call rejects, resolves or never ends", async () => {
  const reason = { the: "reason" };
  const calls: ((signal: AbortSignal) => Promise<number>)[] = [
    () => new Promise(() => {}),
    (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("closed")))),
    (signal) => new Promise((resolve) => signal.addEventListener("abort", () => setImmediate(resolve, 0))),
  ];
  for (const call of calls) {
    const controller = new AbortController();
    const attempt = runLaunch({ call: ({ signal }) => call(signal) }, streams(controller.signal).given);
    controller.abort(reason);
    await expect(attempt).rejects.toBe(reason);
  }
});

it("with a signal that is aborted already nothing is called", async () => {
  let calls = 0;
  const launch: Launch = {
    call: async () => {
      calls++;
      return 0;
    },
  };
  const reason = new Error("too late");
  await expect(runLaunch(launch, streams(AbortSignal.abort(reason)).given)).rejects.toBe(reason);
  expect(calls).toBe(0);
});

it("a question gets the end of what was printed, and the exit code", async () => {
  expect(await askLaunch(sh("cat; exit 4"), { stdin: "answer", timeoutMs: 10_000 })).toEqual({
    exitCode: 4,
    stdout: "answer",
  });
  const long = await askLaunch(sh("head -c 200000 /dev/zero; echo end"), { timeoutMs: 10_000 });
  expect(long.stdout.length).toBeLessThanOrEqual(64 * 1024);
  expect(long.stdout.endsWith("end\n")).toBe(true);
});

it("a question without an answer ends after its limit", async () => {
  const nobody: Launch = { call: () => new Promise(() => {}) };
  await expect(askLaunch(nobody, { timeoutMs: 20 })).rejects.toThrow("it took longer than 20 ms");
  const { signal } = new AbortController();
  await expect(askLaunch(nobody, { timeoutMs: 20, signal })).rejects.toThrow("20 ms");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  await expect(askLaunch(sh("sleep 1000"), { timeoutMs: 20 })).rejects.toThrow("20 ms");
  const broken: Launch = { call: () => Promise.reject(new Error("reset")) };
  await expect(askLaunch(broken, { timeoutMs: 10_000 })).rejects.toThrow("reset");
});
