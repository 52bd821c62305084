/**
 * Has a program in a sandbox read its configuration of MCP servers from a file. It comes by an env var: what stands on a
 * command line can be read by everybody on the machine, and there may be secrets among it.
 */
export const mcpFile = (config: unknown, pathVariable: string) => ({
  env: { SANDDUNE_MCP_CONFIG: JSON.stringify(config) },
  setup: `${pathVariable}="$HOME/.sanddune-mcp.json"
export ${pathVariable}
(umask 077 && printf '%s\\n' "$SANDDUNE_MCP_CONFIG" >"$HOME/.sanddune-mcp.json")
unset SANDDUNE_MCP_CONFIG`,
});
