import type { AgentName } from "../agents/registry.ts";
import type { BacklogManagerName } from "./backlogManagers.ts";
import type { ImageBaseName } from "./imageBases.ts";
import type { SandboxChoiceName } from "./sandboxChoices.ts";
import type { TemplateName } from "./templates.ts";

/** Any program as the agent, rather than one that is known by name. */
export const COMMAND_AGENT = "command";

export type AgentAnswer =
  | { readonly agent: AgentName; readonly model: string }
  | { readonly agent: typeof COMMAND_AGENT; readonly agentCommand: string };

/** The answers to all questions of init. */
export type InitAnswers = AgentAnswer & {
  readonly sandbox: SandboxChoiceName;
  readonly template: TemplateName;
  readonly backlog: BacklogManagerName;
  /** `undefined` for a sandbox without images. */
  readonly imageName: string | undefined;
  /** The base of the image; `node` when it is left out. */
  readonly base?: ImageBaseName;
};
