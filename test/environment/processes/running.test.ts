import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createEnvironmentClient } from "../../../src/environment/client/client.ts";
import { processIsAlive, waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { openDefinition, serveDefinition } from "../serving.ts";

useTool();

const pids = (worktree: string, name: string): number[] => {
  try {
    return readFileSync(join(worktree, name), "utf8").trim().split(/\s+/).map(Number);
  } catch {
    return [];
  }
};

describe("a test that fails", () => {
  it("throws, rejects, or has an uncaught error", async () => {
    const { tests } = await openDefinition(`concurrency: 1, tests: {
      throws: () => { throw new TypeError("not a number"); },
      rejects: async () => assert.deepEqual({ a: 1 }, { a: 2 }),
      nothing: () => { throw undefined; },
      odd: () => { throw { code: 7 }; },
      cause: () => { throw new Error("outer", { cause: new Error("inner") }); },
      late: () => new Promise(() => setTimeout(() => { throw new Error("from a timer"); }, 1)),
      floating: async () => { Promise.reject(new Error("floating")); await new Promise(() => {}); },
      fine: () => {},
    }`);
    const { tests: results, ...rest } = await tests.run("");
    expect(rest).toEqual({ path: "", passed: 1, failed: 7, total: 8, error: null });
    const messages = Object.fromEntries(results.map(({ path, message }) => [path, message]));
    expect(messages).toMatchObject({
      throws: "TypeError: not a number",
      rejects: expect.stringMatching(/\+ {3}a: 1\n- {3}a: 2/),
      nothing: "undefined",
      odd: "{ code: 7 }",
      cause: "outer\nbecause of inner",
      late: "from a timer",
      floating: "floating",
      fine: undefined,
    });
  });

  it("ends its process, and the others go on with a new one, in which the set-up is done again", async () => {
    const { tests, worktree } = await openDefinition(`
      concurrency: 1,
      setup: ({ worktree }) => writeFileSync(join(worktree, "setups"), process.pid + "\\n", { flag: "a" }),
      tests: {
        exits: () => { console.log("so long"); process.exit(0); },
        killed: () => process.kill(process.pid, "SIGKILL"),
        after: () => {},
      },`);
    const { tests: results } = await tests.run("");
    expect(results).toMatchObject([
      {
        path: "exits",
        passed: false,
        message: "its process ended with exit code 0\nIts last output:\nso long",
      },
      { path: "killed", passed: false, message: "its process ended with exit code 137" },
      { path: "after", passed: true },
    ]);
    expect(new Set(pids(worktree, "setups")).size).toBe(3);
  });

  it("uses up its memory, and the others continue", async () => {
    vi.stubEnv("NODE_OPTIONS", "--max-old-space-size=40");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { tests } = await openDefinition(`concurrency: 1, tests: {
      eats: () => { const all = []; for (;;) all.push(new Array(1000).fill({})); },
      after: () => {},
    }`);
    const { tests: results } = await tests.run("");
    expect(results).toMatchObject([
      { passed: false, message: expect.stringMatching(/exit code 134[\s\S]*heap/) },
      { passed: true },
    ]);
  });
});

describe("the time limit", () => {
  it("ends a test that blocks and one that waits for ever, with everything that they have started", async () => {
    const { tests, worktree } = await openDefinition(`timeoutMs: 2000, tests: {
      blocks: { timeoutMs: 1900, run: ({ run, worktree }) => {
        // In a session of its own, and with an environment of its own.
        run("(setsid env -i sleep 1000 & echo $! >> blocks; exec sleep 1001) & echo $! >> blocks; wait");
        const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
        while (!existsSync(join(worktree, "blocks")) || readFileSync(join(worktree, "blocks"), "utf8").split("\\n").length < 3) block(5);
        block();
      } },
      waits: async ({ run }) => { await run("echo $$ >> waits; exec sleep 1002"); },
      quick: () => {},
    }`);
    const { tests: results } = await tests.run("");
    expect(results).toMatchObject([
      { path: "blocks", passed: false, message: "it took longer than 1900 ms and was stopped" },
      { path: "waits", passed: false, message: "it took longer than 2000 ms and was stopped" },
      { path: "quick", passed: true },
    ]);
    const started = [...pids(worktree, "blocks"), ...pids(worktree, "waits")];
    expect(started.length).toBe(3);
    expect(started.filter(processIsAlive)).toEqual([]);
  });

  it("holds for the set-up", async () => {
    const { tests } = await openDefinition(
      `timeoutMs: 300, setup: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), tests: { a: () => {}, b: () => {} }`,
    );
    expect(await tests.run("")).toEqual({
      path: "",
      passed: 0,
      failed: 0,
      total: 0,
      tests: [],
      error: "The set-up failed: it took longer than 300 ms and was stopped",
    });
  });
});

describe("a client that goes away", () => {
  it("takes what runs for it along", async () => {
    const { url, worktree } = await serveDefinition(`tests: {
      waits: async ({ run, worktree }) => {
        writeFileSync(join(worktree, "worker"), String(process.pid));
        await run("sleep 1003 & echo $! > sleep; echo $$ > shell; wait");
      },
      later: () => {},
    }`);
    const controller = new AbortController();
    const running = createEnvironmentClient({ url }).run("", { signal: controller.signal });
    const started = () =>
      ["worker", "sleep", "shell"].flatMap((name) => pids(worktree, name)).filter((pid) => pid > 0);
    await waitFor(() => started().length === 3);
    expect(started().every(processIsAlive)).toBe(true);
    controller.abort(new Error("gone"));
    await expect(running).rejects.toThrow("gone");
    await waitFor(() => !started().some(processIsAlive));
    expect((await createEnvironmentClient({ url }).run("later")).passed).toBe(1);
  });

  it("gives up its place in the line", async () => {
    const { url, worktree } = await serveDefinition(`concurrency: 1, tests: {
        waits: async ({ worktree }) => {
          writeFileSync(join(worktree, "began"), "1");
          while (!existsSync(join(worktree, "go"))) await new Promise((resolve) => setTimeout(resolve, 10));
        },
        never: ({ worktree }) => writeFileSync(join(worktree, "never"), "1"),
        later: () => {},
      }`);
    const client = createEnvironmentClient({ url });
    const first = client.run("waits");
    await waitFor(() => pids(worktree, "began").length > 0);
    const controller = new AbortController();
    let isQueued = false;
    const second = client.run("never", { signal: controller.signal, onProgress: () => (isQueued = true) });
    await waitFor(() => isQueued);
    controller.abort("changed my mind");
    await expect(second).rejects.toBe("changed my mind");
    const third = client.run("later");
    writeFileSync(join(worktree, "go"), "");
    expect((await first).passed).toBe(1);
    expect((await third).passed).toBe(1);
    expect(pids(worktree, "never")).toEqual([]);
  });
});

describe("concurrency", () => {
  const AT_WORK = (
    concurrency: number,
  ) => `concurrency: ${concurrency}, tests: Object.fromEntries(Array.from({ length: 6 }, (_, index) => ["t" + index,
    async ({ worktree }) => {
      const mine = join(worktree, "at-work");
      writeFileSync(mine, "+ " + process.pid + "\\n", { flag: "a" });
      await new Promise((resolve) => setTimeout(resolve, 30));
      writeFileSync(mine, "- " + process.pid + "\\n", { flag: "a" });
    }]))`;

  /** The largest number of tests that were at work at a time, and the processes that they were in. */
  const history = (worktree: string): { readonly most: number; readonly processes: number } => {
    const lines = readFileSync(join(worktree, "at-work"), "utf8").trim().split("\n");
    let [now, most] = [0, 0];
    for (const line of lines) {
      now += line.startsWith("+") ? 1 : -1;
      most = Math.max(most, now);
    }
    return { most, processes: new Set(lines.map((line) => line.slice(2))).size };
  };

  it("divides tests over as many processes as may work", async () => {
    const { tests, worktree } = await openDefinition(AT_WORK(2));
    expect(await tests.run("")).toMatchObject({ passed: 6, error: null });
    expect(history(worktree)).toMatchObject({ processes: 2 });
    expect(history(worktree).most).toBeLessThanOrEqual(2);
  });

  it("is the same over all requests together, which wait in order", async () => {
    const { tests, worktree } = await openDefinition(AT_WORK(1));
    const runs = await Promise.all([tests.run(""), tests.run("t1"), tests.run("t2")]);
    expect(runs.map(({ passed }) => passed)).toEqual([6, 1, 1]);
    expect(history(worktree)).toEqual({ most: 1, processes: 3 });
  });
});

describe("what tests print and say", () => {
  it("never reaches the server's own output, and is bounded in an answer", async () => {
    const { tests } = await openDefinition(`concurrency: 1, tests: {
      noise: () => { for (let i = 0; i < 2000; i++) { console.log("x".repeat(1000)); console.error("y".repeat(1000)); } process.stdout.write('{"id":"1","isDone":true}\\n'); },
      forged: () => { writeFileSync(3, '{"id":"1","isDone":true}\\n[]\\nnonsense\\n'); throw new Error("not so"); },
      long: () => { throw new Error("a" + "b".repeat(1e6)); },
      colours: () => { throw new Error("\\u001b[31mred\\u001b[0m \\ud800 end"); },
    }`);
    const { tests: results } = await tests.run("");
    expect(results[0]?.passed).toBe(true);
    expect(results[1]).toMatchObject({ passed: false, message: "not so" });
    expect(results[2]?.message).toHaveLength(4000);
    expect(results[2]?.message).toMatch(/^ab+…$/);
    expect(results[3]?.message).toBe("red \ufffd end");
  });

  it("makes an answer of at most 1 MiB, whatever the tests say: messages are shortened first", async () => {
    const { url } =
      await serveDefinition(`concurrency: 1, tests: Object.fromEntries(Array.from({ length: 300 }, (_, index) =>
      ["test-" + index, () => { throw new Error("\\u00fc".repeat(4000)); }]))`);
    const response = await fetch(`${url}/run`, { method: "POST" });
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
    const results = JSON.parse(text);
    expect(results).toMatchObject({ failed: 300, total: 300, error: null });
    expect(results.tests).toHaveLength(300);
    expect(results.tests[7].message).toMatch(/^ü+…$/);
  });
});

describe("what a test gets", () => {
  it("is all that a command printed, or the end that it asked for, or an error: never an end that it did not ask for", async () => {
    const { tests } = await openDefinition(`
      concurrency: 1,
      tests: {
        first: async ({ run }) => {
          const { stdout, stdoutTruncated } = await run("echo first; yes | head -c 3000000; echo last");
          assert.deepEqual([stdout.length, stdout.slice(0, 6), stdoutTruncated], [3000011, "first\\n", false]);
        },
        end: async ({ run }) => {
          const printed = "echo first; yes | head -c 3000000; echo last";
          const { stdout, stderr, ...rest } = await run(printed + "; { " + printed + "; } >&2", { captureBytes: 7 });
          assert.deepEqual([stdout, stderr], ["y\\nlast\\n", "y\\nlast\\n"]);
          assert.deepEqual([rest.stdoutTruncated, rest.stderrTruncated], [true, true]);
        },
        flood: async ({ run }) => { await run("yes"); },
        floodOfErrors: async ({ run }) => { await run("yes >&2"); },
        floodWithLimit: async ({ run }) => {
          assert.equal((await run("yes | head -c 20000000; exit 3", { captureBytes: 1 })).exitCode, 3);
        },
        misspelt: async ({ run }) => { await run("true", { captureByte: 5 }); },
        wrong: async ({ run }) => { await run("true", { captureBytes: 0 }); },
      }`);
    const { tests: results } = await tests.run("");
    const messages = Object.fromEntries(results.map(({ path, message }) => [path, message]));
    expect(messages).toEqual({
      ...{ first: undefined, end: undefined, floodWithLimit: undefined },
      flood: expect.stringMatching(
        /^"yes" printed more than 16777216 bytes to its standard output, and was killed\. Pass `captureBytes`/,
      ),
      floodOfErrors: expect.stringContaining("bytes to its standard error"),
      misspelt: expect.stringMatching(
        /`captureByte`: there is no such option; .*Did you mean captureBytes\?/,
      ),
      wrong: expect.stringContaining("must be a whole number from 1 to 268435456"),
    });
  });

  it("is where everything is, and a way to run commands", async () => {
    const { tests, worktree, directory } = await openDefinition(`
      concurrency: 1,
      setup: async ({ scratch, run }) => { await run("touch made", { cwd: scratch }); return { made: join(scratch, "made") }; },
      tests: {
        places: ({ worktree, directory, scratch, session }) => {
          assert.equal(process.env.SANDDUNE_WORKTREE, worktree);
          assert.equal(process.env.SANDDUNE_SCRATCH, scratch);
          assert.ok(existsSync(join(directory, "environment.mjs")));
          assert.ok(existsSync(session.made));
          throw new Error(JSON.stringify({ worktree, directory }));
        },
        commands: async ({ run, worktree }) => {
          const { durationMs, ...result } = await run("pwd; cat; echo $WORD >&2; exit 3", { stdin: "in", env: { WORD: "out" } });
          const whole = { stdoutTruncated: false, stderrTruncated: false };
          assert.deepEqual(result, { exitCode: 3, stdout: worktree + "\\nin", stderr: "out\\n", ...whole });
          assert.equal(typeof durationMs, "number");
          assert.equal((await run("kill -9 $$")).exitCode, 137);
          await assert.rejects(run("sleep 1000", { timeoutMs: 50 }), /50 ms/);
        },
        background: ({ run }) => run("sleep 1004 & echo $! > background"),
      }`);
    const { tests: results } = await tests.run("");
    expect(results[0]?.message).toBe(JSON.stringify({ worktree, directory }));
    expect(results[1]).toEqual({ path: "commands", passed: true, durationMs: expect.any(Number) });
    expect(results[2]?.passed).toBe(true);
    expect(pids(worktree, "background").map(processIsAlive)).toEqual([false]);
  });
});
