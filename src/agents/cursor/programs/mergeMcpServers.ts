/** Prints the MCP configuration in the file that its argument names, with the servers of this run added. */
import { readFileSync } from "node:fs";
import { MCP_CONFIG } from "../protocol.ts";

const before = JSON.parse(readFileSync(process.argv[1] ?? "", "utf8"));
const { mcpServers } = JSON.parse(process.env[MCP_CONFIG] ?? "");
console.log(JSON.stringify({ ...before, mcpServers: { ...before.mcpServers, ...mcpServers } }));
