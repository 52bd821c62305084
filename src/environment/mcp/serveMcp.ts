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
import { tellProgress } from "./progress.ts";
import { StdioTransport } from "./stdioTransport.ts";
import { ToolServer } from "./toolServer.ts";
import { toolsFor } from "./tools.ts";

declare const SANDDUNE_VERSION: string;

const INSTRUCTIONS =
  "Tests for your work. run_tests says what passes, and why the rest fails: call it until everything passes.";

export interface McpOptions extends ServerAddress {
  /** What an agent has to know before it runs tests, in sentences. */
  readonly note?: string | undefined;
}

const createServer = (client: EnvironmentClient, tools: Tool[]): ToolServer => {
  const server = new ToolServer({ name: "sanddune", version: SANDDUNE_VERSION }, INSTRUCTIONS);
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    using progress = tellProgress(params._meta?.progressToken, sendNotification);
    const result = await callTool(params.name, params.arguments, {
      client,
      signal,
      onProgress: progress.tell,
    });
    if (result !== undefined) return result;
    const names = tools.map(({ name }) => name).join(", ");
    throw new McpError(ErrorCode.InvalidParams, `There is no such tool. Expected one of: ${names}`);
  });
  return server;
};

/**
 * Gives an agent the tests of a test server as tools, over standard input and output. Resolves once the agent is gone:
 * its standard input has ended, or nobody reads what is written. What still ran for it is cancelled by then.
 */
export const serveMcp = async ({ note, ...address }: McpOptions): Promise<void> => {
  // Standard output is the protocol's alone.
  globalThis.console = new Console(process.stderr);
  const server = createServer(createEnvironmentClient(address), toolsFor(note));
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  server.onerror = ({ message }) => console.error(shorten(message, 1000));
  await server.connect(new StdioTransport());
  await ended;
};
