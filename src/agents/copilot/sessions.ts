import type { AgentSessions } from "../shared/sessions.ts";

export const copilotSessions: AgentSessions = {
  directory: { variable: "COPILOT_HOME", inHome: ".copilot" },
  files: (sessionId) => [`session-state/${sessionId}/events.jsonl`],
  // Copilot CLI finds a session by its name, wherever it was started.
  place: (file) => file,
  sealedKeys: ["encryptedContent", "reasoningBlocks", "reasoningOpaque"],
  forksByCopy: true,
};
