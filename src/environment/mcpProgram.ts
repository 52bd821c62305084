// The MCP server that agents in sandboxes start. It needs nothing but Node.js.
import { parseArgs } from "node:util";
import { serveMcp } from "./mcp/serveMcp.ts";
import { TOKEN_VARIABLE } from "./run/envVars.ts";

// As in tool.ts: on this signal Node would open its debugger.
process.on("SIGUSR1", () => {});

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { url: { ...text, default: "" }, socket: text, note: text } });
await serveMcp({ ...values, token: process.env[TOKEN_VARIABLE] || undefined });
process.exit(0);
