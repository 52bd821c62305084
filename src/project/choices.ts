import type { ProjectConfig, ProjectNames } from "./config.ts";

/** A setting and its origin, where the user can correct it. */
export interface Chosen {
  readonly value: string;
  /** It comes from the command line, not from the project config. */
  readonly isFlag: boolean;
}

export type ProjectChoices = { readonly [Key in keyof ProjectNames]?: Chosen | undefined };

/** The flags that override settings of the project config. */
export type ChoiceFlags = { readonly [Key in keyof ProjectNames]?: string | undefined };

/** Flags override the project config, whose settings for its own agent do not apply to another one. */
export const choose = (flags: ChoiceFlags, config: ProjectConfig): ProjectChoices => {
  const byFlag = (value: string | undefined): Chosen | undefined =>
    value === undefined ? undefined : { value, isFlag: true };
  const byConfig = (key: keyof ProjectNames): Chosen | undefined => {
    const value = config[key];
    return value === undefined ? undefined : { value, isFlag: false };
  };
  const impliedAgent = flags.agentCommand === undefined ? undefined : "command";
  const agent = byFlag(flags.agent ?? impliedAgent) ?? byConfig("agent");
  const aboutAgent = (key: "model" | "agentCommand") =>
    byFlag(flags[key]) ?? (agent?.value === config.agent ? byConfig(key) : undefined);
  return {
    agent,
    model: aboutAgent("model"),
    agentCommand: aboutAgent("agentCommand"),
    sandbox: byFlag(flags.sandbox) ?? byConfig("sandbox"),
    imageName: byFlag(flags.imageName) ?? byConfig("imageName"),
    backlog: byFlag(flags.backlog) ?? byConfig("backlog"),
  };
};
