/** The env var that names the file, for agents that have none of their own. */
export const MCP_FILE = "SANDDUNE_MCP_FILE";

/**
 * Writes a configuration of MCP servers to a file in the sandbox. It arrives in an env var: every user of the machine can
 * read a command line, and the configuration may hold secrets.
 */
export const mcpFile = (config: unknown, pathVariable = MCP_FILE) => ({
  env: { SANDDUNE_MCP_CONFIG: JSON.stringify(config) },
  setup: `${pathVariable}="$HOME/.sanddune-mcp.json"
export ${pathVariable}
(umask 077 && printf '%s\\n' "$SANDDUNE_MCP_CONFIG" >"$HOME/.sanddune-mcp.json")
unset SANDDUNE_MCP_CONFIG`,
});
