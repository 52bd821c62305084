import { basename } from "node:path";
import { shellQuote } from "../../tools/shellQuote.ts";
import type { AgentSessions } from "../shared/sessions.ts";

/** The name of the directory in which Gemini CLI keeps the sessions for `cwd`, unless it is taken. */
export const geminiProject = (cwd: string): string =>
  basename(cwd)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "project";

const chatOf = (sessionId: string): string => `session-*-${sessionId.slice(0, 8)}.jsonl`;

/** Renames a copied session, which still has the name of the original: it ends with the first characters of the id. */
const renameCopy = (
  sessionId: string,
): string => `for _sanddune_chat in "$HOME"/.gemini/tmp/*/chats/*.jsonl; do
  if head -n 1 -- "$_sanddune_chat" | grep -qF ${shellQuote(`"sessionId":"${sessionId}"`)}; then
    _sanddune_name="\${_sanddune_chat%-*}"-${shellQuote(sessionId.slice(0, 8))}.jsonl
    [ "$_sanddune_chat" = "$_sanddune_name" ] || mv -- "$_sanddune_chat" "$_sanddune_name" || exit 1
  fi
done`;

export const geminiSessions: AgentSessions = {
  directory: { inHome: ".gemini" },
  files: (sessionId) => [`tmp/*/chats/${chatOf(sessionId)}`],
  place: (file, cwd) => file.replace(/^tmp\/[^/]+\//, `tmp/${geminiProject(cwd)}/`),
  sealedKeys: ["thoughtSignature"],
  forksByCopy: true,
  importCommand: renameCopy,
};
