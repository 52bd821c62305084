import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  type CallToolResult,
  CallToolResultSchema,
  type JSONRPCMessage,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { builtCli } from "../../helpers/built.ts";

type CallOptions = NonNullable<Parameters<Client["callTool"]>[2]>;

export interface McpConnection {
  readonly client: Client;
  readonly pid: number;
  /** Every message of the process so far. */
  readonly heard: readonly JSONRPCMessage[];
  readonly call: (
    name: string,
    args?: Record<string, unknown>,
    options?: CallOptions,
  ) => Promise<CallToolResult>;
  /** Ends the process. Whatever the client had to complain about is a failure. */
  readonly close: () => Promise<void>;
}

/** The command line, and the program that is brought into sandboxes in its place. */
const sanddune = builtCli();
const PROGRAMS = {
  sanddune: [sanddune, "mcp"],
  mcpProgram: [join(dirname(sanddune), "environment/mcpProgram.js")],
};

/**
 * Starts `sanddune mcp` with the official client at its other end. That has read the schemas of the tools: structured content
 * that is not of that form is an error, and so is whatever is on standard output and no message of the protocol.
 */
const openMcp = async (
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program: keyof typeof PROGRAMS = "sanddune",
): Promise<McpConnection> => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...PROGRAMS[program], ...flags],
    env,
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const heard: JSONRPCMessage[] = [];
  transport.onmessage = (message) => heard.push(message);
  const client = new Client({ name: "test", version: "1.0.0" });
  const problems: Error[] = [];
  client.onerror = (error) => {
    // The client looks at a notification later than at a response that arrives together with it, and then complains.
    if (!error.message.startsWith("Received a progress notification for an unknown token"))
      problems.push(error);
  };
  const close = async () => {
    await client.close();
    expect(problems).toEqual([]);
  };
  await client.connect(transport);
  await client.listTools();
  const { pid } = transport;
  if (pid === null) throw new Error(`it has ended: ${said}`);
  return {
    client,
    pid,
    heard,
    close,
    call: async (name, args, options) =>
      CallToolResultSchema.parse(await client.callTool({ name, arguments: args ?? {} }, undefined, options)),
  };
};

/** The same, until the test is over. */
export const connectMcp = async (...args: Parameters<typeof openMcp>): Promise<McpConnection> => {
  const connection = await openMcp(...args);
  onTestFinished(connection.close);
  return connection;
};

/** The same, for all tests of a file or suite that leave it connected. */
export const useMcp = (url: () => string): (() => McpConnection) => {
  let connection: McpConnection;
  beforeAll(async () => {
    connection = await openMcp(["--url", url()]);
  });
  afterAll(() => connection.close());
  return () => connection;
};

/** What an agent is told in words. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
