import { shellQuote } from "../../tools/shellQuote.ts";
import type { McpServers } from "../shared/mcpServers.ts";

/** The variable by which servers of tools come in: there may be secrets among them, and no argv has any. */
export const CURSOR_MCP_CONFIG = "SANDDUNE_MCP_CONFIG";

export const cursorMcpEnv = (mcpServers: McpServers) => ({
  [CURSOR_MCP_CONFIG]: JSON.stringify({ mcpServers }),
});

/** Cursor's CLI has no option that names another file, and the one of the repository is not ours. */
const FILE = "_sanddune_mcp";
/** What the image has there, for as long as a run has servers of its own; empty if it has nothing. */
const BEFORE = `"$${FILE}.sanddune"`;

const MERGE = `const { readFileSync } = require("node:fs");
const before = JSON.parse(readFileSync(process.argv[1], "utf8"));
const { mcpServers } = JSON.parse(process.env.${CURSOR_MCP_CONFIG});
console.log(JSON.stringify({ ...before, mcpServers: { ...before.mcpServers, ...mcpServers } }));`;

const PROBLEM =
  "cursor-agent: there is a ~/.cursor/mcp.json already, and the MCP servers of this run could not be added to it: that takes Node.js, and JSON in the file";

/** The function of the shell that puts back what the image has. */
export const RESTORE_CURSOR_MCP = "_sanddune_mcp_back";

/** Lines for `sh` that define the function, and call it: a run that was killed may have left its servers. */
export const defineRestoreCursorMcp = `${FILE}="$HOME/.cursor/mcp.json"
${RESTORE_CURSOR_MCP}() {
  if [ -s ${BEFORE} ]; then
    mv -f -- ${BEFORE} "$${FILE}"
  elif [ -e ${BEFORE} ]; then
    rm -f -- "$${FILE}" ${BEFORE}
  fi
}
${RESTORE_CURSOR_MCP}`;

/** Lines for `sh` that have Cursor's CLI read the servers, beside those of the image. */
export const writeCursorMcp = `mkdir -p -- "$HOME/.cursor" || exit 1
if [ -s "$${FILE}" ]; then mv -- "$${FILE}" ${BEFORE}; else : >${BEFORE}; fi || exit 1
if ! (
  umask 077
  if [ -s ${BEFORE} ]; then
    node --eval ${shellQuote(MERGE)} ${BEFORE}
  else
    printf '%s\\n' "$${CURSOR_MCP_CONFIG}"
  fi >"$${FILE}"
); then
  echo ${shellQuote(PROBLEM)} >&2
  exit 1
fi
unset ${CURSOR_MCP_CONFIG}`;
