import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { SandboxError, SandboxLostError } from "../../../src/errors.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import type { CloudService } from "../../helpers/cloud/clouds.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { temporaryDirectory } from "../../helpers/repository/repository.ts";
import { newSandboxName, openIsolated } from "../openSandbox.ts";

const TIMEOUT_MS = 120_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The shortest, which has the fastest heartbeat. */
const LEASE_MS = 5000;

const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index + 1));

/** Prints `count` numbers on each stream, both at the same time. */
const COUNT = "count() { i=0; while [ $i -lt $1 ]; do i=$((i + 1)); echo $i; echo $i >&2; done; }";

/** Kills all relays of the sandbox, this command's own included. */
const KILL_RELAYS = `
for process in /proc/[0-9]*; do
  tr '\\0' '\\n' <$process/cmdline | grep -qx sanddune-relay || continue
  tr '\\0' '\\n' <$process/environ | grep -qxF "HOME=$HOME" && relays="$relays \${process#/proc/}"
done 2>/dev/null
kill -9 $relays`;

const HICCUPS = [
  { what: "are refused with 429", status: 429, retryAfter: 1, times: 1 },
  { what: "fail with 503, again and again", status: 503, times: 3 },
  { what: "fail although they were done", status: 500, times: 2, afterwards: true },
  { what: "are not answered", times: 2 },
  { what: "are not answered although they were done", times: 2, afterwards: true },
];

/** What a provider of sandboxes in clouds gets over, and what it says when it does not, as tests of the file that calls this. */
export const testCloudFaults = ({ name, provider, use, requests }: CloudService): void => {
  describe(`${name}, when things go wrong,`, { timeout: TIMEOUT_MS }, () => {
    const cloud = use();
    afterEach(() => {
      cloud().loopback.faults.length = 0;
    });

    describe("in a sandbox that stays,", () => {
      let sandbox: IsolatedSandboxHandle;
      beforeAll(async () => {
        sandbox = await openIsolated(provider());
      });
      afterAll(() => sandbox.close());

      /** The files that relays keep in the sandbox, that of the command that looks included. Of one whose start was not heard of, they stay for minutes. */
      const relayFiles = async () => (await sandbox.exec('ls -d "$TMPDIR"/sanddune-* | wc -l')).stdout.trim();

      test("tells the service no env var, no command and no input, and leaves no file of them", async () => {
        const secret = "s3cret-of-this-test";
        const { stdout } = await sandbox.exec(`printf %s "$SECRET" | wc -c; cat | wc -c; : ${secret}`, {
          env: { SECRET: secret },
          stdin: secret,
        });
        expect(stdout.match(/\d+/g)).toEqual([String(secret.length), String(secret.length)]);
        expect(cloud().told()).not.toContain(secret);
        await waitFor(async () => (await relayFiles()) === "1");
      });

      test("leaves no relay behind with a process that holds a command's streams", async () => {
        expect((await sandbox.exec("sleep 1000 & echo left")).stdout).toBe("left\n");
        await waitFor(async () => (await relayFiles()) === "1");
      });

      test.each([
        ["breaks", () => cloud().loopback.breakStreams()],
        ["ends as if all had been said", () => cloud().loopback.endStreams()],
      ])("loses and doubles nothing when the connection %s, again and again", async (_, interrupt) => {
        const lines: string[] = [];
        const errorLines: string[] = [];
        const result = await sandbox.exec(`${COUNT}; count 200; sleep 0.2; count 200; exit 7`, {
          onLine: (line) => {
            lines.push(line);
            if (lines.length % 90 === 1) interrupt();
          },
          onStderrLine: (line) => errorLines.push(line),
        });
        const expected = [...numbers(200), ...numbers(200)];
        expect({ lines, errorLines, exitCode: result.exitCode }).toEqual({
          lines: expected,
          errorLines: expected,
          exitCode: 7,
        });
      });

      test("gets all output of a command that ended without a connection", async () => {
        const { loopback } = cloud();
        const result = await sandbox.exec("echo first; sleep 0.1; echo last; echo oops >&2; exit 3", {
          onLine: (line) => {
            if (line !== "first") return;
            loopback.faults.push({ on: requests.read, times: 4, status: 503 });
            loopback.breakStreams();
          },
        });
        expect(result).toEqual({ stdout: "first\nlast\n", stderr: "oops\n", exitCode: 3 });
      });

      test.each(HICCUPS)(
        "runs a command once, with all its input once, when requests $what",
        async ({ what, ...hiccup }) => {
          const { loopback } = cloud();
          loopback.faults.push({ on: requests.start, ...hiccup }, { on: requests.write, ...hiccup });
          const result = await sandbox.exec("echo ran >>runs; cat; exit 5", { stdin: "input\n" });
          expect(result).toEqual({ stdout: "input\n", stderr: "", exitCode: 5 });
          expect(loopback.faults.map(({ times }) => times)).toEqual([0, 0]);
          expect((await sandbox.exec("cat runs; rm runs")).stdout).toBe("ran\n");
        },
      );
    });

    test("gives a slow line the time that it takes", async () => {
      const sandbox = await open({ requestTimeoutMs: 4000 });
      const { loopback } = cloud();
      // A piece of the input takes longer than a request may that has no content.
      loopback.bytesPerMs = 300;
      onTestFinished(() => {
        loopback.bytesPerMs = Number.POSITIVE_INFINITY;
      });
      const input = randomBytes(2 * 1024 * 1024);
      const { stdout } = await sandbox.exec("sha256sum", { stdin: input });
      expect(stdout).toContain(createHash("sha256").update(input).digest("hex"));
    });

    // These take their time, and do it side by side.
    describe.concurrent("after a command that kills,", () => {
      test("is not lost if it was what runs the command", async ({ expect, onTestFinished }) => {
        const sandbox = await openIsolated(provider());
        onTestFinished(() => sandbox.close());
        expect((await sandbox.exec("kill -9 $PPID; sleep 1000")).exitCode).toBe(137);
        expect((await sandbox.exec("(sleep 1000 &) ; kill -9 $PPID")).exitCode).toBe(137);
        expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      });

      test("takes no command for successful that was cut off with its relay", async ({
        expect,
        onTestFinished,
      }) => {
        const sandbox = await openIsolated(provider());
        onTestFinished(() => sandbox.close());
        await expect(sandbox.exec(`${KILL_RELAYS}; sleep 1000`)).rejects.toThrow(SandboxLostError);
        expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      });
    });

    /** A sandbox that is closed after the test. */
    const open = async (...options: Parameters<typeof provider>) => {
      const sandbox = await openIsolated(provider(...options));
      onTestFinished(() => sandbox.close().catch(() => {}));
      return sandbox;
    };

    test("is lost when the sandbox ends during a command", async () => {
      const sandbox = await open();
      let ending: Promise<void> | undefined;
      const attempt = sandbox.exec("echo running; sleep 1000", {
        onLine: () => {
          ending ??= cloud().lose();
        },
      });
      await expect(attempt).rejects.toThrow(SandboxLostError);
      await expect(attempt).rejects.toThrow(/no longer knows it/);
      await expect(sandbox.exec("true")).rejects.toThrow(SandboxLostError);
      const copy = join(temporaryDirectory(), "never-written");
      await expect(sandbox.copyFileOut("/etc/passwd", copy)).rejects.toThrow(SandboxLostError);
      await ending;
      await sandbox.close();
    });

    describe("with a short lease,", () => {
      // A busy machine may be late with a heartbeat. Who has a longest time has a minute more.
      beforeAll(() => cloud().allow(DAY_MS));
      afterAll(() => cloud().allow(Number.POSITIVE_INFINITY));

      test("is lost when the service has ended the sandbox, and the connection stays silent", async () => {
        const sandbox = await open({ leaseMs: LEASE_MS });
        let isForgotten = false;
        const attempt = sandbox.exec("echo running; sleep 1000", {
          onLine: () => {
            if (!isForgotten) cloud().forget();
            isForgotten = true;
          },
        });
        await expect(attempt).rejects.toThrow(SandboxLostError);
        await expect(attempt).rejects.toThrow(/no longer knows it/);
      });

      test("keeps a sandbox for as long as it is in use, and no longer", async () => {
        const sandbox = await open({ leaseMs: LEASE_MS });
        const firstEnd = cloud().endsAt();
        const running = sandbox.exec("until [ -e go ]; do sleep 0.1; done; echo still here");
        await waitFor(() => cloud().endsAt() > firstEnd + LEASE_MS);
        await sandbox.exec("touch go");
        expect((await running).stdout).toBe("still here\n");
        await sandbox.close();
        expect(cloud().count()).toBe(0);
      });

      test("ends commands while their work can still be imported before its lifetime is over", async () => {
        const sandbox = await open({ lifetimeMs: 60 * MINUTE_MS, leaseMs: LEASE_MS });
        vi.useFakeTimers({ toFake: ["Date"] });
        onTestFinished(() => void vi.useRealTimers());
        const attempt = sandbox.exec("echo work >file; echo done; sleep 1000", {
          onLine: () => vi.setSystemTime(Date.now() + 57 * MINUTE_MS),
        });
        await expect(attempt).rejects.toThrow(SandboxError);
        await expect(attempt).rejects.toThrow(/its lifetime of 60 minutes is nearly over/);
        expect((await sandbox.exec("cat file")).stdout).toBe("work\n");
      });

      test("forgives a service that does not answer for a moment", async () => {
        const sandbox = await open({ leaseMs: LEASE_MS });
        const { loopback } = cloud();
        const before = loopback.count(requests.extend);
        loopback.faults.push({ on: requests.extend, times: 2, status: 400 });
        const running = sandbox.exec("until [ -e go ]; do sleep 0.1; done; echo here");
        await waitFor(() => loopback.count(requests.extend) > before + 3);
        await sandbox.exec("touch go");
        expect((await running).stdout).toBe("here\n");
      });
    });

    test.each([
      { status: 500, afterwards: true },
      { status: undefined, afterwards: true },
      { status: 400, afterwards: true },
    ])("leaves no sandbox behind that nobody knows of (create fails with $status)", async (hiccup) => {
      const { loopback, count } = cloud();
      loopback.faults.push({ on: requests.create, times: 1, ...hiccup });
      const sandbox = await open().catch(() => undefined);
      await sandbox?.close();
      expect(count()).toBe(0);
    });

    test("leaves no sandbox behind when its making is aborted", async () => {
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
    });

    test("says what is left when a sandbox cannot be ended", async () => {
      const sandbox = await openIsolated(provider());
      const { loopback, count, lose } = cloud();
      loopback.faults.push({ on: requests.end, times: 10, status: 500 });
      await expect(sandbox.close()).rejects.toThrow(/could not be (ended|deleted)\. Try: npx /);
      expect(count()).toBe(1);
      await lose();
    });
  });
};
