import type { AgentProvider } from "../agents/contract.ts";

export interface DockerfileParts {
  /** The text of `templates/Dockerfile`. */
  readonly templateText: string;
  /** Replaces its first part, up to gh: another base image. */
  readonly baseText?: string | undefined;
  /** The command that builds the image. */
  readonly buildCommand: string;
  /** Lines that install the package manager of the project. */
  readonly packageManager: readonly string[];
  /** The agent whose program is installed; `undefined` for the user's own command. */
  readonly agent: AgentProvider | undefined;
  /** Lines that install what the backlog manager's commands need. */
  readonly backlogTools: readonly string[];
}

/** From the base image to what is installed on every one, of which gh is the first. */
const BASE_PART = /^ARG BASE_IMAGE=[\s\S]*?\n(?=\n# gh, )/m;

/** The default Dockerfile, or Containerfile, of an agent. A part without lines leaves no gap. */
export const dockerfileFor = ({
  templateText,
  baseText,
  buildCommand,
  packageManager,
  agent,
  backlogTools,
}: DockerfileParts): string => {
  const onBase = baseText === undefined ? templateText : templateText.replace(BASE_PART, () => baseText);
  const parts = {
    PACKAGE_MANAGER: packageManager,
    AGENT_INSTALLATION: agent?.installation?.dockerfile ?? [],
    BACKLOG_MANAGER_TOOLS: backlogTools,
  };
  return Object.entries(parts).reduce(
    (text, [name, lines]) =>
      text.replace(`{{${name}}}\n\n`, () => (lines.length === 0 ? "" : `${lines.join("\n")}\n\n`)),
    onBase.replace("{{BUILD_COMMAND}}", () => buildCommand),
  );
};
