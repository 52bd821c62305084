import type { AgentProvider } from "../agents/contract.ts";

export interface DockerfileParts {
  /** The text of `templates/Dockerfile`. */
  readonly templateText: string;
  /** Whose program the image gets; `undefined` for a command of the user's own. */
  readonly agent: AgentProvider | undefined;
  /** Lines that install what the backlog manager's commands need. */
  readonly backlogTools: readonly string[];
}

/** The default Dockerfile, or Containerfile, of an agent. A part without lines leaves no gap. */
export const dockerfileFor = ({ templateText, agent, backlogTools }: DockerfileParts): string => {
  const parts = {
    AGENT_INSTALLATION: agent?.installation?.dockerfile ?? [],
    BACKLOG_MANAGER_TOOLS: backlogTools,
  };
  return Object.entries(parts).reduce(
    (text, [name, lines]) =>
      text.replace(`{{${name}}}\n\n`, () => (lines.length === 0 ? "" : `${lines.join("\n")}\n\n`)),
    templateText,
  );
};
