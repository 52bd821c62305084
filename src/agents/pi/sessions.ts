import type { AgentSessions } from "../shared/sessions.ts";

/** The name of the directory in which pi keeps the sessions for `cwd`. */
export const piProject = (cwd: string): string => `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;

export const piSessions: AgentSessions = {
  directory: { variable: "PI_CODING_AGENT_DIR", inHome: ".pi/agent" },
  files: (sessionId) => [`sessions/*/*_${sessionId}.jsonl`],
  place: (file, cwd) => file.replace(/^sessions\/[^/]+\//, () => `sessions/${piProject(cwd)}/`),
  // pi refuses to continue a session in another directory.
  withCwd: (record, cwd) => (record["type"] === "session" ? { ...record, cwd } : undefined),
  sealedKeys: ["thinking", "thinkingSignature", "textSignature", "thoughtSignature"],
};
