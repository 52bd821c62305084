import { parseObject } from "../../tools/json/parseJson.ts";
import { shellQuote } from "../../tools/shellQuote.ts";
import { objectAt, objectsAt, textAt } from "../shared/jsonLine.ts";
import type { AgentSessions } from "../shared/sessions.ts";

/** opencode keeps sessions in a database: they are exported to, and imported from, files beside it. */
const EXPORTS = "opencode/sanddune";

const directory = { variable: "XDG_DATA_HOME", inHome: ".local/share" };
const exportFile = (sessionId: string): string =>
  `"\${${directory.variable}:-$HOME/${directory.inHome}}"/${EXPORTS}/${shellQuote(`${sessionId}.json`)}`;

const PROGRAM = "OPENCODE_DISABLE_AUTOUPDATE=1 opencode";

/** The messages of an exported session. Later exports repeat them unchanged. */
const messagesIn = (exported: string): readonly string[] =>
  objectsAt(parseObject(exported) ?? {}, "messages").map((message) =>
    JSON.stringify([
      textAt(objectAt(message, "info"), "id"),
      ...objectsAt(message, "parts").map((part) => textAt(part, "text") ?? ""),
    ]),
  );

export const opencodeSessions: AgentSessions = {
  directory,
  files: (sessionId) => [`${EXPORTS}/${sessionId}.json`],
  place: (file) => file,
  continues: (before, after) => {
    const messagesAfter = messagesIn(after);
    return messagesIn(before).every((message, index) => messagesAfter[index] === message);
  },
  exportCommand: (sessionId) =>
    `mkdir -p -- "$(dirname -- ${exportFile(sessionId)})" && ${PROGRAM} export ${shellQuote(sessionId)} >${exportFile(sessionId)}`,
  importCommand: (sessionId) => `${PROGRAM} import ${exportFile(sessionId)}`,
};
