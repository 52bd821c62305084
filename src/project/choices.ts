import type { ProjectConfig, ProjectNames } from "./config.ts";

/** A setting, with where it was said: that is where a mistake has to be mended. */
export interface Chosen {
  readonly value: string;
  /** Whether the command line says it, and not the project config. */
  readonly isFlag: boolean;
}

export type ProjectChoices = { readonly [Key in keyof ProjectNames]?: Chosen | undefined };

/** What the command line can say about the settings of the project config. */
export type ChoiceFlags = { readonly [Key in keyof ProjectNames]?: string | undefined };

/** Flags win over the project config, and what that says about its agent is not for another one. */
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
