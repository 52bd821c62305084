import { shellQuote } from "../../tools/shellQuote.ts";
import { mcpFile } from "../shared/mcpFile.ts";
import type { McpServers } from "../shared/mcpServers.ts";
import { PI_MCP_ADDRESS } from "./mcpAddress.ts";
import { PI_MCP_CLIENT } from "./mcpClient.ts";
import { PI_MCP_PROGRAM } from "./mcpProgram.ts";

/** The variable that names the file with the servers. */
const SERVERS_FILE = "SANDDUNE_MCP_FILE";

/** The file that pi loads, as `sh` writes it. */
export const PI_MCP_EXTENSION_FILE = `"$HOME/.sanddune-pi-mcp.mjs"`;

/**
 * An extension for pi, which has no servers of tools itself: it registers the tools of those that are in the file. A
 * server that does not begin is told of on stderr, and pi goes on without it. Stdout belongs to pi.
 */
export const PI_MCP_EXTENSION = String.raw`
const { readFileSync } = process.getBuiltinModule("node:fs");
${PI_MCP_PROGRAM}${PI_MCP_ADDRESS}${PI_MCP_CLIENT}
/** Models accept no longer names, and no other characters. */
const MAX_NAME = 64;
/** More text than this would fill the model's context. */
const MAX_TEXT = 100_000;

/** A name that no other tool has yet. */
const nameOf = (server, tool, taken) => {
  const whole = (server + "_" + tool).replace(/[^\w-]/g, "_");
  for (let count = 1; ; count++) {
    const end = count === 1 ? "" : "_" + count;
    const name = whole.slice(0, MAX_NAME - end.length) + end;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
};

const describe = (block) => {
  if (block.type === "text") return block.text;
  if (block.type === "resource") return block.resource?.text ?? "[resource " + block.resource?.uri + "]";
  if (block.type === "resource_link") return "[resource " + block.uri + "]";
  return "[" + block.type + "]";
};

/** What the model is shown of a result. */
const contentOf = ({ content = [], structuredContent }) => {
  let left = MAX_TEXT;
  const shown = content.map((block) => {
    if (block.type === "image") return { type: "image", data: block.data, mimeType: block.mimeType };
    const text = String(describe(block));
    const missing = text.length - left;
    const kept = missing > 0 ? text.slice(0, left) + "\n[" + missing + " more characters were left out]" : text;
    left = Math.max(0, left - text.length);
    return { type: "text", text: kept };
  });
  if (shown.length > 0) return shown;
  if (structuredContent !== undefined) return contentOf({ content: [{ type: "text", text: JSON.stringify(structuredContent) }] });
  return [{ type: "text", text: "[no output]" }];
};

const toolOf = (name, { name: called, title, description = "", inputSchema }, client) => ({
  name,
  label: title ?? called,
  description,
  parameters: { type: "object", properties: {}, ...inputSchema },
  execute: async (_, input, signal, onUpdate) => {
    const onProgress = ({ message, progress, total }) => {
      const text = message ?? [progress, total].filter((each) => each !== undefined).join(" of ");
      onUpdate?.({ content: [{ type: "text", text: String(text) }], details: undefined });
    };
    const result = await client.call(called, input, { signal, onProgress });
    const content = contentOf(result);
    // Only what is thrown is an error for pi.
    if (result.isError === true) throw new Error(content.map(({ text }) => text).filter(Boolean).join("\n"));
    return { content, details: undefined };
  },
});

export default (pi) => {
  const clients = [];

  /** The tools of a server, with the client to call them by. */
  const open = async ([server, settings]) => {
    try {
      const client = openClient(settings);
      clients.push(client);
      return (await client.start()).map((tool) => ({ server, tool, client }));
    } catch (error) {
      console.error("sanddune: the MCP server " + server + " cannot be used: " + (error.message || error.code));
      return [];
    }
  };

  pi.on("session_start", async () => {
    const servers = JSON.parse(readFileSync(process.env.${SERVERS_FILE}, "utf8"));
    const opened = await Promise.all(Object.entries(servers).map(open));
    const taken = new Set();
    for (const { server, tool, client } of opened.flat()) {
      pi.registerTool(toolOf(nameOf(server, tool.name, taken), tool, client));
    }
  });

  pi.on("session_shutdown", async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
};
`;

/** Has pi in a sandbox use servers of tools: what it needs is written to files of the home directory. */
export const piMcp = (servers: McpServers) => {
  const { env, setup } = mcpFile(servers, SERVERS_FILE);
  return {
    env,
    setup: `${setup}
(umask 077 && printf '%s' ${shellQuote(PI_MCP_EXTENSION)} >${PI_MCP_EXTENSION_FILE})`,
  };
};
