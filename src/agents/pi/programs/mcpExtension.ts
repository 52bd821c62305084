/**
 * An extension for pi, which does not support MCP itself: it registers the tools of the MCP servers that a file lists. A
 * server that does not start is reported on stderr, and pi continues without it. Stdout belongs to pi.
 */
import { readFileSync } from "node:fs";
import type { McpServer, McpServers } from "../../contract.ts";
import { MCP_FILE } from "../../shared/mcpFile.ts";
import { type McpClient, openClient, type Progress, type ServerTool } from "./mcpClient.ts";
import { contentOf, type PiContent, type ToolResult } from "./toolResult.ts";

/** Models accept neither longer names nor other characters. */
const MAX_NAME_LENGTH = 64;

interface PiUpdate {
  readonly content: readonly PiContent[];
  readonly details: undefined;
}

interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(
    id: string,
    input: object,
    signal?: AbortSignal,
    onUpdate?: (update: PiUpdate) => void,
  ): Promise<PiUpdate>;
}

/** The part of pi's extension API that is used here. */
export interface Pi {
  on(event: "session_start" | "session_shutdown", handler: () => Promise<void>): void;
  registerTool(tool: PiTool): void;
}

/** A name that no other tool has yet. */
const uniqueName = (server: string, tool: string, taken: Set<string>): string => {
  const whole = `${server}_${tool}`.replace(/[^\w-]/g, "_");
  for (let count = 1; ; count++) {
    const end = count === 1 ? "" : `_${count}`;
    const name = whole.slice(0, MAX_NAME_LENGTH - end.length) + end;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
};

const updateOf = (content: readonly PiContent[]): PiUpdate => ({ content, details: undefined });

const textsOf = (content: readonly PiContent[]): string =>
  content
    .map((block) => (block.type === "text" ? block.text : ""))
    .filter(Boolean)
    .join("\n");

const toolOf = (name: string, tool: ServerTool, client: McpClient): PiTool => ({
  name,
  label: tool.title ?? tool.name,
  description: tool.description ?? "",
  parameters: { type: "object", properties: {}, ...tool.inputSchema },
  execute: async (_, input, signal, onUpdate) => {
    const onProgress = ({ message, progress, total }: Progress) => {
      const text = message ?? [progress, total].filter((each) => each !== undefined).join(" of ");
      onUpdate?.(updateOf([{ type: "text", text: String(text) }]));
    };
    const result: ToolResult = await client.call(tool.name, input, { signal, onProgress });
    const content = contentOf(result);
    // pi reports a failure only if an error is thrown.
    if (result.isError === true) throw new Error(textsOf(content));
    return updateOf(content);
  },
});

export default (pi: Pi): void => {
  const clients: McpClient[] = [];

  const open = async ([server, settings]: [string, McpServer]) => {
    try {
      const client = openClient(settings);
      clients.push(client);
      return (await client.start()).map((tool) => ({ server, tool, client }));
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      console.error(`sanddune: the MCP server ${server} cannot be used: ${message || code}`);
      return [];
    }
  };

  pi.on("session_start", async () => {
    const servers: McpServers = JSON.parse(readFileSync(process.env[MCP_FILE] ?? "", "utf8"));
    const opened = await Promise.all(Object.entries(servers).map(open));
    const taken = new Set<string>();
    for (const { server, tool, client } of opened.flat()) {
      pi.registerTool(toolOf(uniqueName(server, tool.name, taken), tool, client));
    }
  });

  pi.on("session_shutdown", async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
};
