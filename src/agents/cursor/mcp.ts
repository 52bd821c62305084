import { shellQuote } from "../../tools/shellQuote.ts";
import type { McpServers } from "../shared/mcpServers.ts";
import mergeMcpServers from "./programs/mergeMcpServers.ts?text";
import { MCP_CONFIG } from "./protocol.ts";

export const cursorMcpEnv = (mcpServers: McpServers) => ({
  [MCP_CONFIG]: JSON.stringify({ mcpServers }),
});

/** Cursor's CLI has no option that names another file, and the file in the repository belongs to the repository. */
const FILE = "_sanddune_mcp";
/** A copy of the image's own file, kept while a run has servers of its own; empty if the image has none. */
const BEFORE = `"$${FILE}.sanddune"`;

const PROBLEM =
  "cursor-agent: the MCP servers of this run could not be added to ~/.cursor/mcp.json, which exists already: this needs Node.js, and valid JSON in the file";

/** The shell function that restores the image's file. */
export const RESTORE_CURSOR_MCP = "_sanddune_mcp_back";

/** Lines for `sh` that define the function and call it: a run that was killed may have left its servers. */
export const defineRestoreCursorMcp = `${FILE}="$HOME/.cursor/mcp.json"
${RESTORE_CURSOR_MCP}() {
  if [ -s ${BEFORE} ]; then
    mv -f -- ${BEFORE} "$${FILE}"
  elif [ -e ${BEFORE} ]; then
    rm -f -- "$${FILE}" ${BEFORE}
  fi
}
${RESTORE_CURSOR_MCP}`;

/** Lines for `sh` that make Cursor's CLI read the servers of this run, besides those of the image. */
export const writeCursorMcp = `mkdir -p -- "$HOME/.cursor" || exit 1
if [ -s "$${FILE}" ]; then mv -- "$${FILE}" ${BEFORE}; else : >${BEFORE}; fi || exit 1
if ! (
  umask 077
  if [ -s ${BEFORE} ]; then
    node --input-type=module --eval ${shellQuote(mergeMcpServers)} ${BEFORE}
  else
    printf '%s\\n' "$${MCP_CONFIG}"
  fi >"$${FILE}"
); then
  echo ${shellQuote(PROBLEM)} >&2
  exit 1
fi
unset ${MCP_CONFIG}`;
