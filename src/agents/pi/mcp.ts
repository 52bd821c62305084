import { shellQuote } from "../../tools/shellQuote.ts";
import { mcpFile } from "../shared/mcpFile.ts";
import type { McpServers } from "../shared/mcpServers.ts";
import mcpExtension from "./programs/mcpExtension.ts?text";

/** The file that pi loads, as `sh` writes it. */
export const PI_MCP_EXTENSION_FILE = `"$HOME/.sanddune-pi-mcp.mjs"`;

/** Lets pi in a sandbox use MCP servers: the list of them and the extension are written to files of the home directory. */
export const piMcp = (servers: McpServers) => {
  const { env, setup } = mcpFile(servers);
  return {
    env,
    setup: `${setup}
(umask 077 && printf '%s' ${shellQuote(mcpExtension)} >${PI_MCP_EXTENSION_FILE})`,
  };
};
