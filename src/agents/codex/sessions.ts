import { objectAt } from "../shared/jsonLine.ts";
import type { AgentSessions } from "../shared/sessions.ts";
import { codexUsage } from "./output.ts";

export const codexSessions: AgentSessions = {
  directory: { variable: "CODEX_HOME", inHome: ".codex" },
  files: (sessionId) => [`sessions/*/*/*/rollout-*-${sessionId}.jsonl`],
  related: (sessionId) => ({
    pattern: "sessions/*/*/*/rollout-*.jsonl",
    firstLineHolds: `"session_id":"${sessionId}"`,
  }),
  // Codex finds a session by its name, wherever it was started.
  place: (file) => file,
  sealedKeys: ["encrypted_content"],
  forksByCopy: true,
  usedInAll: (record) => {
    const total = objectAt(objectAt(objectAt(record, "payload"), "info"), "total_token_usage");
    return Object.keys(total).length === 0 ? undefined : codexUsage(total);
  },
};
