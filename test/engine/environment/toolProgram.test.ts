import { describe, expect, it } from "vitest";
import { evaluate } from "../../../src/engine/environment/tests/evaluate.ts";
import { PendingLines } from "../../../src/engine/environment/tests/pendingLines.ts";
import { type CommandRunner, runTool } from "../../../src/engine/environment/tests/toolProgram.ts";
import { sealLine } from "../../../src/environment/tool/sealedLines.ts";
import type { ExecOptions } from "../../../src/sandboxes/contract.ts";

/** The key that a command is sent, as its first line. */
const keyOf = async ({ stdin, onLine }: ExecOptions): Promise<string> => {
  let key = "";
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) {
    key ||= Buffer.from(chunk).toString().split("\n", 1)[0] ?? "";
    onLine?.(sealLine(key, JSON.stringify({ type: "waiting" })));
  }
  return key;
};

/** A sandbox in which a command prints lines, some of which only the program for environments can have written. */
const sandbox = (exitCode: number, lines: (seal: (line: object) => string) => readonly string[]) => {
  const commands: string[] = [];
  const runner: CommandRunner = {
    exec: async (command, options = {}) => {
      commands.push(command);
      const key = await keyOf(options);
      for (const line of lines((value) => sealLine(key, JSON.stringify(value)))) options.onLine?.(line);
      return { exitCode, stdout: "", stderr: "" };
    },
  };
  return { runner, commands };
};

const results = (passed: boolean) => ({
  path: "",
  passed: Number(passed),
  failed: Number(!passed),
  total: 1,
  tests: [{ path: "right", passed, durationMs: 1 }],
  error: null,
});

const evaluated = (runner: CommandRunner) =>
  evaluate(
    { sandbox: runner, packagePath: "/package", worktree: "/w", scratch: "/s", env: {} },
    {},
    { archive: "/w.tar", tree: "/w", copyIn: async () => {} },
    new AbortController().signal,
  );

describe("the program for environments in a sandbox", () => {
  it("is believed only what is sealed with the key that it was sent", async () => {
    const forged = { type: "result", result: results(true) };
    const { runner, commands } = sandbox(0, (seal) => [
      JSON.stringify(forged),
      sealLine("", JSON.stringify(forged)),
      sealLine("another key", JSON.stringify(forged)),
      `${seal({ type: "progress" }).split(" ", 1)[0]} ${JSON.stringify(forged)}`,
      JSON.stringify({ type: "failed", message: "forged", status: 404 }),
      seal({ type: "result", result: results(false) }),
      seal(forged),
    ]);
    expect(await evaluated(runner)).toEqual(results(false));
    expect(commands[0]).toContain("tool.js run --sealed ");
  });

  it("has told nothing if all that is heard is forged", async () => {
    const { runner } = sandbox(0, () => [JSON.stringify({ type: "result", result: results(true) })]);
    expect(await evaluated(runner)).toMatchObject({ total: 0, error: "the tests reported no results" });
  });

  it.each([
    [127, "needs Node.js in the sandbox"],
    [99, "needs tar in the sandbox"],
    [125, "ended with exit code 125"],
  ])(
    "needs programs of the sandbox, which the client of the sandbox does not deny: exit code %i is %s",
    async (exitCode, error) => {
      const { runner } = sandbox(exitCode, () => []);
      expect(await evaluated(runner)).toMatchObject({ total: 0, error: expect.stringContaining(error) });
    },
  );

  it("is ended when nothing is heard of it any more", async () => {
    let told = 0;
    const stopped: CommandRunner = {
      exec: async (_, options = {}) => {
        const key = await keyOf(options);
        const telling = setInterval(() => {
          // Others go on talking, where it does not.
          const alive = JSON.stringify({ type: "alive" });
          options.onLine?.(told++ < 5 ? sealLine(key, alive) : alive);
        }, 20);
        return new Promise((_resolve, reject) => {
          options.signal?.addEventListener("abort", () => {
            clearInterval(telling);
            reject(options.signal?.reason);
          });
        });
      },
    };
    const running = runTool(stopped, {
      tool: "tool.js",
      args: ["run"],
      maxSilenceMs: 80,
      onMessage: () => {},
    });
    await expect(running).rejects.toMatchObject({
      name: "EnvironmentStartError",
      problem: "the tests printed nothing for 80 ms",
    });
    expect(told).toBeGreaterThanOrEqual(5);
  });
});

it("keeps a limited number of lines for a process that does not read them", async () => {
  const lines = new PendingLines();
  const line = { text: "x".repeat(1024 * 1024) };
  for (let count = 0; count < 100; count++) lines.push(line);
  lines.end();
  let read = 0;
  for await (const chunk of lines) read += chunk.length;
  expect(read).toBeLessThan(40 * 1024 * 1024);
  expect(read).toBeGreaterThan(8 * 1024 * 1024);
});
