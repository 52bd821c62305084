import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import {
  CallToolResultSchema,
  InitializeResultSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  LATEST_PROTOCOL_VERSION,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { environment } from "../../cli/environment/environmentFolders.ts";
import { builtCli } from "../../helpers/built.ts";
import { waitFor } from "../../helpers/processes/waiting.ts";
import { useTool } from "../builtTool.ts";
import { serveEnvironment } from "./mcpServing.ts";

useTool();
const cli = builtCli();

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1";

interface RawMcp {
  readonly child: ChildProcessWithoutNullStreams;
  readonly over: Promise<{ readonly exitCode: number | null; readonly stderr: string }>;
  /** Every line of standard output so far, each a message. */
  readonly messages: JSONRPCMessage[];
  /** Those lines that are several messages. */
  readonly batches: JSONRPCMessage[][];
  readonly write: (line: string) => void;
  /** Sends a request, and resolves with the result of it. */
  readonly ask: (method: string, params: object) => Promise<unknown>;
}

/** `sanddune mcp` without a client that would forgive anything. */
const startMcp = (url: string): RawMcp => {
  const child = spawn(process.execPath, [cli, "mcp", "--url", url]);
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const over = Promise.all([once(child, "close"), text(child.stderr)]).then(([[exitCode], stderr]) => ({
    exitCode: exitCode as number | null,
    stderr,
  }));
  const messages: JSONRPCMessage[] = [];
  const batches: JSONRPCMessage[][] = [];
  const waiting = new Map<number, (result: unknown) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const value: unknown = JSON.parse(line);
    if (Array.isArray(value)) return void batches.push(JSONRPCMessageSchema.array().parse(value));
    const message = JSONRPCMessageSchema.parse(value);
    messages.push(message);
    if ("result" in message) waiting.get(Number(message.id))?.(message.result);
  });
  let lastId = 0;
  const write = (line: string) => void child.stdin.write(`${line}\n`);
  const ask = (method: string, params: object) => {
    const id = ++lastId;
    const answer = new Promise<unknown>((resolve) => waiting.set(id, resolve));
    write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return Promise.race([
      answer,
      over.then(({ stderr }) => {
        throw new Error(`it has ended: ${stderr}`);
      }),
    ]);
  };
  return { child, over, messages, batches, write, ask };
};

const initialize = async ({ ask, write }: RawMcp, protocolVersion = LATEST_PROTOCOL_VERSION) => {
  const clientInfo = { name: "test", version: "1" };
  const result = await ask("initialize", { protocolVersion, capabilities: {}, clientInfo });
  write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  return InitializeResultSchema.parse(result);
};

describe("On standard output", () => {
  it("is nothing but the protocol, whatever tests print", async () => {
    const { url } = await serveEnvironment(
      environment(`{
      tests: {
        noisy: async ({ run }) => {
          console.log("noise");
          process.stdout.write('{"jsonrpc":"2.0","id":2,"result":{}}\\n');
          process.stderr.write("noise");
          await run("echo noise; echo noise >&2; echo noise > /dev/tty 2>/dev/null || true");
          process.exit(0);
        },
        quiet: () => { console.log("x".repeat(1_000_000)); },
      },
    }`),
    );
    const mcp = startMcp(url);
    await initialize(mcp);
    const result = CallToolResultSchema.parse(
      await mcp.ask("tools/call", { name: "run_tests", arguments: {}, _meta: { progressToken: "p" } }),
    );
    expect(result.structuredContent).toMatchObject({ passed: 1, failed: 1, tests: [{ path: "noisy" }, {}] });
    mcp.child.stdin.end();
    expect(await mcp.over).toEqual({ exitCode: 0, stderr: "" });
    expect(mcp.messages.map((message) => ("method" in message ? message.method : message.id))).toEqual([
      1,
      ...mcp.messages.slice(1, -1).map(() => "notifications/progress"),
      2,
    ]);
  });
});

describe("A client", () => {
  it("of another version is offered the latest one, and gets its own if that is known", async () => {
    expect(await initialize(startMcp(NOWHERE), "1999-01-01")).toMatchObject({
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: { tools: {} },
    });
    expect(await initialize(startMcp(NOWHERE), "2024-11-05")).toMatchObject({
      protocolVersion: "2024-11-05",
    });
  });

  it("that leaves at once, without a word, ends it", async () => {
    const { child, over } = startMcp(NOWHERE);
    child.stdin.end();
    expect(await over).toEqual({ exitCode: 0, stderr: "" });
  });

  it("that no longer reads ends it", async () => {
    const mcp = startMcp(NOWHERE);
    await initialize(mcp);
    mcp.child.stdout.destroy();
    mcp.write(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/list" }));
    expect(await mcp.over).toMatchObject({ exitCode: 0 });
  });

  it("that writes nonsense is answered all the same, once it writes sense", async () => {
    const mcp = startMcp(NOWHERE);
    await initialize(mcp);
    for (const line of ["nonsense", "{", "[]", "null", '{"jsonrpc":"2.0"}', '{"id":"x"}', "\u0000\ufffd"]) {
      mcp.write(line);
    }
    expect(await mcp.ask("tools/list", {})).toMatchObject({ tools: [{}, {}] });
    expect(mcp.messages).toHaveLength(2);
  });

  it("that sends requests together is answered together, and not for those that it has cancelled", async () => {
    const { url } = await serveEnvironment(
      environment(`{ tests: { hangs: () => new Promise((resolve) => setTimeout(resolve, 1_000_000)) } }`),
    );
    const mcp = startMcp(url);
    await initialize(mcp, "2025-03-26");
    const request = (id: number | string, method: string, params = {}) => ({
      jsonrpc: "2.0",
      id,
      method,
      params,
    });
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } };
    mcp.write(
      JSON.stringify([
        request("a", "tools/list"),
        { nonsense: true },
        request("slow", "tools/call", { name: "run_tests", arguments: {} }),
        request("b", "tools/dance"),
        cancelled,
      ]),
    );
    mcp.write(JSON.stringify([{ jsonrpc: "2.0", method: "notifications/initialized" }]));
    await waitFor(() => mcp.batches.length > 0);
    expect(mcp.batches).toHaveLength(1);
    // In any order: each answer names its request.
    expect(mcp.batches[0]).toHaveLength(2);
    expect(mcp.batches[0]).toContainEqual(
      expect.objectContaining({ id: "a", result: { tools: [expect.anything(), expect.anything()] } }),
    );
    expect(mcp.batches[0]).toContainEqual(
      expect.objectContaining({ id: "b", error: expect.objectContaining({ code: -32601 }) }),
    );
    expect(await mcp.ask("tools/list", {})).toMatchObject({ tools: [{}, {}] });
    expect(mcp.messages).toHaveLength(2);
  });

  it("that writes a message without an end is left, before the memory is full", async () => {
    const mcp = startMcp(NOWHERE);
    await initialize(mcp);
    mcp.child.stdin.write("a".repeat(70 * 1024 * 1024));
    expect(await mcp.over).toMatchObject({ stderr: expect.stringContaining("A message has more than") });
    expect(mcp.messages).toHaveLength(1);
  });
});
