import { createHash, randomBytes } from "node:crypto";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { SandboxError, SandboxLostError } from "../../src/errors.ts";
import type { IsolatedSandboxHandle } from "../../src/sandboxes/contract.ts";
import { CLOUDS } from "../helpers/cloud/clouds.ts";
import { waitFor } from "../helpers/waiting.ts";
import { newSandboxName, openIsolated } from "./openSandbox.ts";

const TIMEOUT_MS = 120_000;

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

/** Prints `count` numbers on each stream, both at the same time. */
const COUNT = "count() { i=0; while [ $i -lt $1 ]; do i=$((i + 1)); echo $i; echo $i >&2; done; }";

describe.each(CLOUDS)("$name, when things go wrong,", ({ provider, use, requests }) => {
  const cloud = use();
  const opened: IsolatedSandboxHandle[] = [];
  const open = async (...options: Parameters<typeof provider>) => {
    const sandbox = await openIsolated(provider(...options));
    opened.push(sandbox);
    return sandbox;
  };
  afterEach(async () => {
    cloud().loopback.faults.length = 0;
    await Promise.all(opened.splice(0).map((sandbox) => sandbox.close().catch(() => {})));
  });

  test.each([
    ["breaks", () => cloud().loopback.breakStreams()],
    ["ends as if all had been said", () => cloud().loopback.endStreams()],
  ])(
    "loses and doubles nothing when the connection %s, again and again",
    async (_, interrupt) => {
      const sandbox = await open();
      const lines: string[] = [];
      const errorLines: string[] = [];
      const result = await sandbox.exec(`${COUNT}; count 200; sleep 0.2; count 200; exit 7`, {
        onLine: (line) => {
          lines.push(line);
          if (lines.length % 90 === 1) interrupt();
        },
        onStderrLine: (line) => errorLines.push(line),
        timeoutMs: TIMEOUT_MS,
      });
      const expected = [...numbers(200), ...numbers(200)];
      expect({ lines, errorLines, exitCode: result.exitCode }).toEqual({
        lines: expected,
        errorLines: expected,
        exitCode: 7,
      });
    },
    TIMEOUT_MS,
  );

  test(
    "gets all of a command that ended while nobody was connected",
    async () => {
      const sandbox = await open();
      const { loopback } = cloud();
      const result = await sandbox.exec("echo first; sleep 0.1; echo last; echo oops >&2; exit 3", {
        onLine: (line) => {
          if (line !== "first") return;
          loopback.faults.push({ on: requests.read, times: 4, status: 503 });
          loopback.breakStreams();
        },
        timeoutMs: TIMEOUT_MS,
      });
      expect(result).toEqual({ stdout: "first\nlast\n", stderr: "oops\n", exitCode: 3 });
    },
    TIMEOUT_MS,
  );

  const hiccups = [
    { status: 429, retryAfter: 1 },
    { status: 503 },
    { status: 500, afterwards: true },
    { status: undefined },
    { status: undefined, afterwards: true },
  ];
  test.each(
    (["start", "write"] as const).flatMap((request) => hiccups.map((hiccup) => ({ request, ...hiccup }))),
  )(
    "runs a command once, with all its input once, when $request fails with $status (afterwards: $afterwards)",
    async ({ request, ...hiccup }) => {
      const sandbox = await open();
      cloud().loopback.faults.push({ on: requests[request], times: 2, ...hiccup });
      const result = await sandbox.exec("echo ran >>runs; cat; exit 5", { stdin: "input\n" });
      expect(result).toEqual({ stdout: "input\n", stderr: "", exitCode: 5 });
      expect((await sandbox.exec("cat runs")).stdout).toBe("ran\n");
    },
    TIMEOUT_MS,
  );

  test(
    "is lost when the sandbox ends during a command",
    async () => {
      const sandbox = await open();
      let ending: Promise<void> | undefined;
      const attempt = sandbox.exec("echo running; sleep 1000", {
        onLine: () => {
          ending ??= cloud().lose();
        },
      });
      await expect(attempt).rejects.toThrow(SandboxLostError);
      await expect(attempt).rejects.toThrow(/does not know it any more/);
      await expect(sandbox.exec("true")).rejects.toThrow(SandboxLostError);
      await expect(sandbox.copyFileOut("/etc/passwd", "/tmp/sanddune-never-written")).rejects.toThrow(
        SandboxLostError,
      );
      await ending;
      await sandbox.close();
    },
    TIMEOUT_MS,
  );

  test(
    "is lost when the service has ended the sandbox, and the connection stays silent",
    async () => {
      const sandbox = await open({ leaseMs: 8000 });
      let isForgotten = false;
      const attempt = sandbox.exec("echo running; sleep 1000", {
        onLine: () => {
          if (!isForgotten) cloud().forget();
          isForgotten = true;
        },
      });
      await expect(attempt).rejects.toThrow(SandboxLostError);
      await expect(attempt).rejects.toThrow(/does not know it any more/);
    },
    TIMEOUT_MS,
  );

  test(
    "is not lost by a command that kills what runs it",
    async () => {
      const sandbox = await open();
      expect((await sandbox.exec("kill -9 $PPID; sleep 1000", { timeoutMs: TIMEOUT_MS })).exitCode).toBe(137);
      expect((await sandbox.exec("(sleep 1000 &) ; kill -9 $PPID", { timeoutMs: TIMEOUT_MS })).exitCode).toBe(
        137,
      );
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
    },
    TIMEOUT_MS,
  );

  test(
    "takes no command for successful that was cut off with its relay",
    async () => {
      const sandbox = await open();
      const attempt = sandbox.exec(
        `for stat in /proc/[0-9]*/cmdline; do
         tr '\\0' '\\n' <$stat | grep -qx sanddune-relay && relays="$relays \${stat%/cmdline}"
       done 2>/dev/null
       echo running
       for relay in $relays; do kill -9 \${relay#/proc/}; done
       sleep 1000`,
        { timeoutMs: TIMEOUT_MS },
      );
      await expect(attempt).rejects.toThrow(SandboxLostError);
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
    },
    TIMEOUT_MS,
  );

  test(
    "has 12 MB of output whole, over several connections if it takes that",
    async () => {
      const sandbox = await open();
      const hash = createHash("sha256");
      let bytes = 0;
      await sandbox.exec("seq 1 1700000", {
        onLine: (line) => {
          hash.update(`${line}\n`);
          bytes += line.length + 1;
        },
        captureBytes: 0,
        timeoutMs: TIMEOUT_MS,
      });
      const expected = createHash("sha256");
      for (let number = 1; number <= 1_700_000; number++) expected.update(`${number}\n`);
      expect({ bytes, hash: hash.digest("hex") }).toEqual({
        bytes: 12_488_896,
        hash: expected.digest("hex"),
      });
    },
    TIMEOUT_MS,
  );

  test(
    "tells the service no env var, no command and no input, and leaves no file of them",
    async () => {
      const sandbox = await open();
      const secret = "s3cret-of-this-test";
      const { stdout } = await sandbox.exec(`printf %s "$SECRET" | wc -c; cat | wc -c; : ${secret}`, {
        env: { SECRET: secret },
        stdin: secret,
      });
      expect(stdout.match(/\d+/g)).toEqual([String(secret.length), String(secret.length)]);
      expect(cloud().told()).not.toContain(secret);
      const left = async () => (await sandbox.exec('ls -d "$TMPDIR"/sanddune-* | wc -l')).stdout.trim();
      // Its own inbox is there while it runs.
      await waitFor(async () => (await left()) === "1");
    },
    TIMEOUT_MS,
  );

  test(
    "leaves no relay behind with a process that holds a command's streams",
    async () => {
      const sandbox = await open();
      expect((await sandbox.exec("sleep 1000 & echo left")).stdout).toBe("left\n");
      const left = async () => (await sandbox.exec('ls -d "$TMPDIR"/sanddune-* | wc -l')).stdout.trim();
      // Its own inbox is there while it runs.
      await waitFor(async () => (await left()) === "1");
    },
    TIMEOUT_MS,
  );

  test(
    "gives a slow line the time that it takes",
    async () => {
      const sandbox = await open();
      // All limits are shorter here, so that a slow line is one for which nobody has to wait long.
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      const shorter = vi
        .spyOn(AbortSignal, "timeout")
        .mockImplementation((ms) => timeout(Math.ceil(ms / 15)));
      const { loopback } = cloud();
      loopback.bytesPerMs = 600;
      onTestFinished(() => {
        shorter.mockRestore();
        loopback.bytesPerMs = Number.POSITIVE_INFINITY;
      });
      const input = randomBytes(2 * 1024 * 1024);
      const { stdout } = await sandbox.exec("sha256sum", { stdin: input });
      expect(stdout).toContain(createHash("sha256").update(input).digest("hex"));
    },
    TIMEOUT_MS,
  );

  test(
    "keeps a sandbox for as long as it is in use, and no longer",
    async () => {
      const sandbox = await open({ leaseMs: 8000 });
      const firstEnd = cloud().endsAt();
      const result = await sandbox.exec("sleep 12; echo still here", { timeoutMs: TIMEOUT_MS });
      expect(result.stdout).toBe("still here\n");
      expect(cloud().endsAt()).toBeGreaterThan(firstEnd + 1000);
      await sandbox.close();
      expect(cloud().count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    "ends commands in time for their work to be brought home before its lifetime is over",
    async () => {
      const sandbox = await open({ lifetimeMs: 20_000, leaseMs: 12_000 });
      const attempt = sandbox.exec("echo work >file; sleep 1000");
      await expect(attempt).rejects.toThrow(SandboxError);
      await expect(attempt).rejects.toThrow(/its lifetime of 20 seconds is nearly over/);
      expect((await sandbox.exec("cat file")).stdout).toBe("work\n");
    },
    TIMEOUT_MS,
  );

  test(
    "forgives a service that does not answer for a moment",
    async () => {
      const sandbox = await open({ leaseMs: 24_000 });
      const { loopback } = cloud();
      loopback.faults.push({ on: requests.extend, times: 2, status: 400 });
      const before = loopback.count(requests.extend);
      const running = sandbox.exec("until [ -e go ]; do sleep 0.1; done; echo here");
      await waitFor(() => loopback.count(requests.extend) > before + 3, 60_000);
      await sandbox.exec("touch go");
      expect((await running).stdout).toBe("here\n");
    },
    TIMEOUT_MS,
  );

  test.each([
    { status: 500, afterwards: true },
    { status: undefined, afterwards: true },
    { status: 400, afterwards: true },
  ])(
    "leaves no sandbox behind that nobody knows of (create fails with $status)",
    async (hiccup) => {
      const { loopback, count } = cloud();
      loopback.faults.push({ on: requests.create, times: 1, ...hiccup });
      const sandbox = await open().catch(() => undefined);
      await sandbox?.close();
      expect(count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    "leaves no sandbox behind when its making is aborted",
    async () => {
      const { loopback, count } = cloud();
      const reason = new Error("never mind");
      const controller = new AbortController();
      const before = loopback.count(requests.create);
      const attempt = provider().create({
        ...{ runId: "test-run", sandboxName: newSandboxName(), repositoryPath: "/" },
        signal: controller.signal,
      });
      attempt.catch(() => {});
      await waitFor(() => loopback.count(requests.create) > before);
      controller.abort(reason);
      await expect(attempt).rejects.toBe(reason);
      expect(count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    "says what is left when a sandbox cannot be ended",
    async () => {
      const sandbox = await openIsolated(provider());
      const { loopback, count, lose } = cloud();
      loopback.faults.push({ on: requests.end, times: 10, status: 500 });
      await expect(sandbox.close()).rejects.toThrow(/could not be (ended|deleted)\. Try: npx /);
      expect(count()).toBe(1);
      await lose();
    },
    TIMEOUT_MS,
  );
});
