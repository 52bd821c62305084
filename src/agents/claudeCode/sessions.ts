import type { AgentSessions } from "../shared/sessions.ts";

const LONGEST_NAME = 200;

/** The hash that Claude Code itself uses. */
const hashOf = (path: string): string => {
  let hash = 0;
  for (let index = 0; index < path.length; index++) {
    hash = ((hash << 5) - hash + path.charCodeAt(index)) | 0;
  }
  return Math.abs(hash).toString(36);
};

/** The name of the directory in which Claude Code keeps the sessions for `cwd`. */
export const claudeCodeProject = (cwd: string): string => {
  const name = cwd.replace(/[^a-zA-Z0-9]/g, "-");
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}-${hashOf(cwd)}`;
};

export const claudeCodeSessions: AgentSessions = {
  directory: { variable: "CLAUDE_CONFIG_DIR", inHome: ".claude" },
  files: (sessionId) => [
    `projects/*/${sessionId}.jsonl`,
    `projects/*/${sessionId}/subagents/*.jsonl`,
    `projects/*/${sessionId}/subagents/*.meta.json`,
    `projects/*/${sessionId}/tool-results/*.txt`,
  ],
  place: (file, cwd) => file.replace(/^projects\/[^/]+\//, () => `projects/${claudeCodeProject(cwd)}/`),
  sealedKeys: ["thinking", "signature"],
};
