import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SandboxError, SandboxLostError } from "../../../src/errors.ts";
import type { IsolatedSandboxHandle } from "../../../src/sandboxes/contract.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { useOwnTemporaryDirectory } from "../../helpers/repository/ownTemporaryDirectory.ts";
import { testConformance } from "../conformance/testConformance.ts";
import { type Call, type LibraryCallOptions, libraryCallSandbox } from "./libraryCallSandbox.ts";

useOwnTemporaryDirectory();

describe("a sandbox that is reached by calls of a library conforms", () => {
  testConformance(() => libraryCallSandbox(), { ownsProcessNamespace: false });
});

const withSandbox = async (
  options: LibraryCallOptions,
  use: (sandbox: IsolatedSandboxHandle) => Promise<void>,
): Promise<void> => {
  const sandbox = await libraryCallSandbox(options);
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
};

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    (result) => result,
    (reason: unknown) => reason,
  );

/** Lets calls of commands go until they have printed something, and then end as told, whatever the command does. */
const breakAtFirstOutput =
  (end: () => Promise<number>): NonNullable<LibraryCallOptions["disturb"]> =>
  (call, execId): Call =>
    execId === undefined
      ? call
      : (streams) =>
          new Promise((resolve, reject) => {
            call({
              ...streams,
              onStdoutChunk: (chunk) => {
                streams.onStdoutChunk(chunk);
                end().then(resolve, reject);
              },
            }).then(resolve, reject);
          });

const RESET = new Error("the connection was reset");

/** Lives for as long as its file is there. */
const LINGER = "echo $$ >pid; echo running; while [ -e pid ]; do sleep 0.05; done; touch went-on";

const isAlive = ({ worktreePath }: IsolatedSandboxHandle): boolean =>
  processIsAlive(Number(readFileSync(join(worktreePath, "pid"), "utf8")));

describe("a call that breaks while the command runs", () => {
  test.each<[string, () => Promise<number>]>([
    ["rejects", () => Promise.reject(RESET)],
    ["says that the command ended with 0", () => Promise.resolve(0)],
    ["says that the command ended with 137", () => Promise.resolve(137)],
  ])("and %s is a lost sandbox, and the command is killed", async (_, end) => {
    await withSandbox({ disturb: breakAtFirstOutput(end) }, async (sandbox) => {
      const error = await failureOf(sandbox.exec(LINGER));
      expect(error).toBeInstanceOf(SandboxLostError);
      expect((error as SandboxLostError).problem).toBe("the connection to a running command broke");
      expect(isAlive(sandbox)).toBe(false);
      expect(existsSync(`${sandbox.worktreePath}/went-on`)).toBe(false);
    });
  });

  test("is one also where processes come and go all the time", async () => {
    const churn = "(while [ -e churn ]; do /bin/true; done) & ";
    await withSandbox({ disturb: breakAtFirstOutput(() => Promise.resolve(0)) }, async (sandbox) => {
      for (const _ of [1, 2, 3]) {
        const error = await failureOf(sandbox.exec(`touch churn; ${churn}${churn}${LINGER}`));
        expect(error).toBeInstanceOf(SandboxLostError);
      }
    });
  });

  test("tells why, as far as that is known", async () => {
    await withSandbox({ disturb: breakAtFirstOutput(() => Promise.reject(RESET)) }, async (sandbox) => {
      const error = await failureOf(sandbox.exec(`echo oops >&2; ${LINGER}`));
      expect((error as SandboxLostError).diagnostics).toContain(RESET.message);
    });
  });
});

describe("a call that breaks although the command is over", () => {
  /** The exit marker is swallowed, as by a connection that broke just then. */
  const swallowEnd =
    (end: () => Promise<number>): NonNullable<LibraryCallOptions["disturb"]> =>
    (call, execId): Call =>
      execId === undefined
        ? call
        : async (streams) => {
            const cut = (deliver: (chunk: Buffer) => void) => (chunk: Buffer) => {
              if (!chunk.includes(0x1e)) deliver(chunk);
            };
            await call({
              ...streams,
              onStdoutChunk: cut(streams.onStdoutChunk),
              onStderrChunk: cut(streams.onStderrChunk),
            });
            return end();
          };

  test("is a lost sandbox: the command may have ended in any way", async () => {
    await withSandbox({ disturb: swallowEnd(() => Promise.reject(RESET)) }, async (sandbox) => {
      const error = await failureOf(sandbox.exec("exit 0"));
      expect(error).toBeInstanceOf(SandboxLostError);
      expect((error as SandboxLostError).problem).toMatch(/so its exit code is unknown/);
      expect((error as SandboxLostError).diagnostics).toContain(RESET.message);
    });
  });

  test("is never a success", async () => {
    await withSandbox({ disturb: swallowEnd(() => Promise.resolve(0)) }, async (sandbox) => {
      expect(await sandbox.exec("exit 0")).toMatchObject({ exitCode: 137 });
    });
  });

  test("after the exit marker has come changes nothing", async () => {
    const disturb: LibraryCallOptions["disturb"] = (call, execId) =>
      execId === undefined
        ? call
        : async (streams) => {
            await call(streams);
            throw RESET;
          };
    await withSandbox({ disturb }, async (sandbox) => {
      expect(await sandbox.exec("echo out; echo err >&2; exit 3")).toEqual({
        stdout: "out\n",
        stderr: "err\n",
        exitCode: 3,
      });
    });
  });
});

describe("a sandbox that no longer answers", () => {
  const silent: Call = () => Promise.reject(RESET);

  test.each<[string, Call]>([
    ["whose calls reject", silent],
    [
      "whose calls throw at once",
      () => {
        throw RESET;
      },
    ],
    ["whose calls end with 0 and nothing else", () => Promise.resolve(0)],
  ])("%s is lost, with what could be found out", async (_, call) => {
    let isGone = false;
    const disturb: LibraryCallOptions["disturb"] = (real) => (streams) => (isGone ? call : real)(streams);
    await withSandbox({ disturb }, async (sandbox) => {
      expect((await sandbox.exec("echo here")).stdout).toBe("here\n");
      isGone = true;
      for (const attempt of [sandbox.exec("true"), sandbox.copyIn("/etc/hostname", "/tmp/x")]) {
        const error = await failureOf(attempt);
        expect(error).toBeInstanceOf(SandboxLostError);
        expect((error as SandboxLostError).problem).toBe("nobody answers");
        expect((error as SandboxLostError).diagnostics).toContain("It was asked.");
      }
      isGone = false;
    });
  });
});

describe("an abort", () => {
  /** Never settles once it is given up, and says so only when asked. */
  const unhurried =
    (afterAbort: (reject: (reason: unknown) => void) => void): NonNullable<LibraryCallOptions["disturb"]> =>
    (call, execId): Call =>
      execId === undefined
        ? call
        : (streams) =>
            new Promise((resolve, reject) => {
              streams.signal.addEventListener("abort", () => afterAbort(reject));
              call(streams).then((code) => {
                if (!streams.signal.aborted) resolve(code);
              }, reject);
            });

  test("does not wait for a call that never settles, but for the death of the command", async () => {
    await withSandbox({ disturb: unhurried(() => {}) }, async (sandbox) => {
      const controller = new AbortController();
      const reason = { the: "reason" };
      const attempt = sandbox.exec(LINGER, {
        signal: controller.signal,
        onLine: () => controller.abort(reason),
      });
      expect(await failureOf(attempt)).toBe(reason);
      expect(isAlive(sandbox)).toBe(false);
    });
  });

  test("stays an abort when the call rejects late, without an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    let hasRejected = false;
    const disturb = unhurried((reject) => {
      setImmediate(() => {
        reject(RESET);
        setImmediate(() => {
          hasRejected = true;
        });
      });
    });
    try {
      await withSandbox({ disturb }, async (sandbox) => {
        const controller = new AbortController();
        const reason = new Error("enough");
        const attempt = sandbox.exec("echo running; sleep 1000", {
          signal: controller.signal,
          onLine: () => controller.abort(reason),
        });
        expect(await failureOf(attempt)).toBe(reason);
        await waitFor(() => hasRejected);
      });
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
  });

  test("that comes when the command is over comes too late", async () => {
    const controller = new AbortController();
    const disturb: LibraryCallOptions["disturb"] = (call, execId) =>
      execId === undefined
        ? call
        : async (streams) => {
            const code = await call(streams);
            controller.abort(new Error("too late"));
            return code;
          };
    await withSandbox({ disturb }, async (sandbox) => {
      const result = await sandbox.exec("echo done; exit 4", { signal: controller.signal });
      expect(controller.signal.aborted).toBe(true);
      expect(result).toEqual({ stdout: "done\n", stderr: "", exitCode: 4 });
    });
  });
});

test("a command that is over does not wait for a call that is not", async () => {
  const disturb: LibraryCallOptions["disturb"] = (call, execId) =>
    execId === undefined
      ? call
      : (streams) => {
          void call(streams);
          return new Promise(() => {});
        };
  await withSandbox({ disturb }, async (sandbox) => {
    expect(await sandbox.exec("echo done; exit 5")).toEqual({ stdout: "done\n", stderr: "", exitCode: 5 });
  });
});

test("a sandbox without terminals refuses one", async () => {
  await withSandbox({}, async (sandbox) => {
    expect(sandbox.interactiveExec).toBeUndefined();
  });
});

test("a sandbox without a heartbeat of its own is not asked", async () => {
  let calls = 0;
  const disturb: LibraryCallOptions["disturb"] = (call) => {
    calls++;
    return call;
  };
  await withSandbox({ disturb }, async (sandbox) => {
    await sandbox.exec("true");
    expect(calls).toBe(1);
  });
});

describe("a sandbox with a heartbeat", () => {
  test("that no longer answers is lost, and so are its commands", async () => {
    let isThere = true;
    const heartbeat = {
      everyMs: 5,
      misses: 2,
      beat: async () => {
        if (!isThere) throw new Error("no route to host");
      },
    };
    await withSandbox({ heartbeat }, async (sandbox) => {
      const attempt = sandbox.exec("echo running; sleep 1000", {
        onLine: () => {
          isThere = false;
        },
      });
      const error = await failureOf(attempt);
      expect(error).toBeInstanceOf(SandboxLostError);
      expect((error as SandboxLostError).problem).toBe("it no longer answers");
      expect((error as SandboxLostError).diagnostics).toContain("no route to host");
      expect(await failureOf(sandbox.exec("true"))).toBe(error);
    });
  });

  test("is no longer asked when it is closed", async () => {
    let beats = 0;
    const heartbeat = {
      everyMs: 1,
      misses: 0,
      beat: async () => {
        beats++;
      },
    };
    const sandbox = await libraryCallSandbox({ heartbeat });
    await waitFor(() => beats > 2);
    await sandbox.close();
    const beatsAtClose = beats;
    const other = await libraryCallSandbox();
    await other.exec("sleep 0.1");
    await other.close();
    expect(beats).toBe(beatsAtClose);
    expect(existsSync(sandbox.worktreePath)).toBe(false);
  });
});

test("a host file that is missing is refused without a call", async () => {
  await withSandbox({}, async (sandbox) => {
    const error = await failureOf(sandbox.copyIn("/no/such/file", `${sandbox.worktreePath}/x`));
    expect(error).toBeInstanceOf(SandboxError);
    expect((error as Error).message).toContain("/no/such/file");
  });
});
