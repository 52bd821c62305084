import type { AgentProvider } from "../agents/contract.ts";

export interface DockerfileParts {
  /** The text of `templates/Dockerfile`. */
  readonly templateText: string;
  /** What to type to build the image. */
  readonly buildCommand: string;
  /** Lines that install the package manager of the project. */
  readonly packageManager: readonly string[];
  /** Whose program the image gets; `undefined` for a command of the user's own. */
  readonly agent: AgentProvider | undefined;
  /** Lines that install what the backlog manager's commands need. */
  readonly backlogTools: readonly string[];
}

/** The default Dockerfile, or Containerfile, of an agent. A part without lines leaves no gap. */
export const dockerfileFor = ({
  templateText,
  buildCommand,
  packageManager,
  agent,
  backlogTools,
}: DockerfileParts): string => {
  const parts = {
    PACKAGE_MANAGER: packageManager,
    AGENT_INSTALLATION: agent?.installation?.dockerfile ?? [],
    BACKLOG_MANAGER_TOOLS: backlogTools,
  };
  return Object.entries(parts).reduce(
    (text, [name, lines]) =>
      text.replace(`{{${name}}}\n\n`, () => (lines.length === 0 ? "" : `${lines.join("\n")}\n\n`)),
    templateText.replace("{{BUILD_COMMAND}}", () => buildCommand),
  );
};
