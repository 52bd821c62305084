import { getEventListeners } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ProcessInputError, ProcessStartError, ProcessTimeoutError } from "../../src/errors.ts";
import { runProcess } from "../../src/process/runProcess.ts";
import { killProcess } from "../helpers/processes/killProcess.ts";
import { processIsAlive, waitFor } from "../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../helpers/repository/repository.ts";

const node = (script: string, extra = {}) =>
  runProcess({ program: process.execPath, args: ["-e", script], ...extra });
const sh = (script: string, extra = {}) => runProcess({ program: "sh", args: ["-c", script], ...extra });

it("returns both streams and the exit code", async () => {
  const result = await sh("echo out; echo err >&2; exit 3");
  expect(result).toMatchObject({ stdout: "out\n", stderr: "err\n", exitCode: 3 });
});

it.each([
  ["SIGKILL", 137],
  ["SIGTERM", 143],
  ["SIGSEGV", 139],
])("counts death by %s as exit code %i, never as success", async (signal, exitCode) => {
  expect((await sh(`kill -${signal.slice(3)} $$`)).exitCode).toBe(exitCode);
});

it("passes arguments literally: no shell is involved", async () => {
  const args = ["$(touch x)", "`id`", "a b", "'", '"', "*", ""];
  const result = await node("console.log(JSON.stringify(process.argv.slice(1)))", {
    args: ["-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...args],
  });
  expect(JSON.parse(result.stdout)).toEqual(args);
});

it("delivers standard input of any size and closes it", async () => {
  const input = "x".repeat(3_000_000);
  expect((await sh("wc -c", { stdin: input })).stdout.trim()).toBe("3000000");
  expect((await sh("cat", {})).stdout).toBe("");
});

it("streams input from an iterable", async () => {
  async function* chunks() {
    for (let index = 0; index < 100; index++) yield Buffer.alloc(10_000, 65);
  }
  expect((await sh("wc -c", { stdin: chunks() })).stdout.trim()).toBe("1000000");
});

it("reports a closed input as a typed error in the result, not as a crash", async () => {
  const result = await sh("exit 0", { stdin: "x".repeat(10_000_000) });
  expect(result.exitCode).toBe(0);
  expect(result.inputError).toBeInstanceOf(ProcessInputError);
});

it("reports lines before the process ends", async () => {
  const directory = temporaryDirectory();
  const go = join(directory, "go");
  const lines: string[] = [];
  // The process waits for a file that appears only once its first line has been seen.
  const running = sh(`echo first; while [ ! -e '${go}' ]; do sleep 0.01; done; echo second`, {
    onStdoutLine: (line: string) => {
      lines.push(line);
      if (line === "first") void import("node:fs").then((fs) => fs.writeFileSync(go, ""));
    },
  });
  await running;
  expect(lines).toEqual(["first", "second"]);
});

it("decodes characters that are split between chunks", async () => {
  const lines: string[] = [];
  await node(
    `const b = Buffer.from("ä🏜\\n"); (async () => { for (const byte of b) { process.stdout.write(Buffer.from([byte])); await new Promise(setImmediate); } })()`,
    { onStdoutLine: (line: string) => lines.push(line) },
  );
  expect(lines).toEqual(["ä🏜"]);
});

it("keeps the end of a large output and reports that it was truncated", async () => {
  const result = await sh("seq --format 'line %.0f' 0 199999", { captureBytes: 1000 });
  expect(result.stdoutTruncated).toBe(true);
  expect(result.stdout.length).toBeLessThanOrEqual(1000);
  expect(result.stdout).toMatch(/line 199999\n$/);
});

it("rejects with a typed error when the program does not exist", async () => {
  await expect(runProcess({ program: "no-such-program-here", args: [] })).rejects.toMatchObject({
    name: "ProcessStartError",
    errorCode: "ENOENT",
    program: "no-such-program-here",
  });
});

it("rejects with a typed error when an argument is too long", async () => {
  const error = await runProcess({ program: "true", args: ["x".repeat(5_000_000)] }).catch(
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(ProcessStartError);
  expect(error.errorCode).toBe("E2BIG");
});

it("kills the whole group after the timeout, even processes that ignore SIGTERM", async () => {
  const pidFile = join(temporaryDirectory(), "pid");
  const error = await sh(
    `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > '${pidFile}'; while :; do sleep 1; done`,
    { timeoutMs: 200 },
  ).catch((reason) => reason);
  expect(error).toBeInstanceOf(ProcessTimeoutError);
  expect(processIsAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
});

it("rejects with the identical reason when aborted, after the group is gone", async () => {
  const pidFile = join(temporaryDirectory(), "pid");
  const controller = new AbortController();
  const running = sh(`sleep 100 & echo $! > '${pidFile}'; wait`, { signal: controller.signal }).catch(
    (reason) => reason,
  );
  await waitFor(() => existsSync(pidFile) && readFileSync(pidFile, "utf8") !== "");
  const reason = { mine: true };
  controller.abort(reason);
  expect(await running).toBe(reason);
  expect(processIsAlive(Number(readFileSync(pidFile, "utf8")))).toBe(false);
});

it("starts nothing when the signal is aborted already", async () => {
  const marker = join(temporaryDirectory(), "started");
  const reason = new Error("no");
  await expect(sh(`touch '${marker}'`, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(existsSync(marker)).toBe(false);
});

it("does not wait for a grandchild that holds the pipes open", async () => {
  const result = await sh("sleep 1000 & echo $!");
  expect(result.exitCode).toBe(0);
  killProcess(result.stdout);
});

it("does not wait for a grandchild that keeps printing", async () => {
  const result = await sh("(while :; do echo x || exit; sleep 0.05; done) & echo $! >&2");
  expect(result.exitCode).toBe(0);
  killProcess(result.stderr);
});

it("leaves no listener on a signal that is used repeatedly", async () => {
  const controller = new AbortController();
  for (let index = 0; index < 20; index++) await sh("true", { signal: controller.signal });
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

it("gives the child exactly the given environment", async () => {
  const result = await runProcess({ program: "/usr/bin/env", args: [], env: { ONLY: "this\nand that" } });
  expect(result.stdout).toBe("ONLY=this\nand that\n");
});

it("turns an error thrown by a line callback into a rejection", async () => {
  const boom = new Error("boom");
  await expect(
    sh("echo a; sleep 1000", {
      onStdoutLine: () => {
        throw boom;
      },
    }),
  ).rejects.toBe(boom);
});
