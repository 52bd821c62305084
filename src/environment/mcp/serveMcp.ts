import { Console } from "node:console";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { shorten } from "../../tools/shorten.ts";
import type { ServerAddress } from "../client/askServer.ts";
import { createEnvironmentClient, type EnvironmentClient } from "../client/client.ts";
import { callTool } from "./callTool.ts";
import { reportProgress } from "./progress.ts";
import { StdioTransport } from "./stdioTransport.ts";
import { ToolServer } from "./toolServer.ts";
import { toolsFor } from "./tools.ts";

declare const SANDDUNE_VERSION: string;

const INSTRUCTIONS =
  "Tests for your work. run_tests reports which tests pass, and why the others fail: call it until all pass.";

export interface McpOptions extends ServerAddress {
  /** Sentences that an agent should read before it runs tests. */
  readonly note?: string | undefined;
}

const createServer = (client: EnvironmentClient, tools: Tool[]): ToolServer => {
  const server = new ToolServer({ name: "sanddune", version: SANDDUNE_VERSION }, INSTRUCTIONS);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    using progress = reportProgress(params._meta?.progressToken, sendNotification);
    const result = await callTool(params.name, params.arguments, {
      client,
      signal,
      onProgress: progress.report,
    });
    if (result !== undefined) return result;
    const names = tools.map(({ name }) => name).join(", ");
    throw new McpError(ErrorCode.InvalidParams, `Unknown tool; expected one of: ${names}`);
  });
  return server;
};

/**
 * Offers the tests of a test server as MCP tools, over standard input and output. Resolves once the agent is gone: standard input
 * has ended, or standard output is closed. Calls that still ran are cancelled.
 */
export const serveMcp = async ({ note, ...address }: McpOptions): Promise<void> => {
  // Standard output is for the protocol only.
  globalThis.console = new Console(process.stderr);
  const server = createServer(createEnvironmentClient(address), toolsFor(note));
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  server.onerror = ({ message }) => console.error(shorten(message, 1000));
  await server.connect(new StdioTransport());
  await ended;
};
