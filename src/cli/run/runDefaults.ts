import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { didYouMean } from "../../options/checks/checks.ts";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { type ChoiceFlags, choose } from "../../project/choices.ts";
import type { ProjectNames } from "../../project/config.ts";
import type { Project } from "../../project/findProject.ts";
import { UsageError } from "../shared/usageError.ts";

/** A value with its source, which is where a mistake has to be fixed. */
export interface Said {
  readonly value: string;
  /** Whether it comes from the command line. */
  readonly isFlag: boolean;
  /** The error for a value that cannot be used. */
  refuse(problem: string): Error;
}

/** The choices of the command line and of `.sanddune/config.json`. */
export type Choices = { readonly [Key in keyof ProjectNames]?: Said | undefined };

/** Flags take precedence over the project config. Its settings for one agent do not apply to another agent. */
export const choicesOf = (
  flags: ChoiceFlags,
  { config, configPath }: Pick<Project, "config" | "configPath">,
): Choices => {
  const choices = choose(flags, config);
  const said = (flag: string, key: keyof ProjectNames): Said | undefined => {
    const chosen = choices[key];
    if (chosen === undefined) return undefined;
    const refuse = (problem: string) =>
      chosen.isFlag
        ? new UsageError(`${flag}: ${problem}`)
        : new ProjectConfigError(configPath, `${key}: ${problem}`);
    return { ...chosen, refuse };
  };
  return {
    agent: said("--agent", "agent"),
    model: said("--model", "model"),
    agentCommand: said("--agent-command", "agentCommand"),
    sandbox: said("--sandbox", "sandbox"),
    imageName: said("--image-name", "imageName"),
  };
};

/** The entry with that name. */
export const lookUp = <Entry>(
  registry: Readonly<Record<string, Entry>>,
  flag: string,
  said: Said | undefined,
): Entry => {
  const names = Object.keys(registry);
  const known = `expected one of: ${names.join(", ")}`;
  if (said === undefined) {
    throw new UsageError(`${flag} is missing; ${known}\n${sandduneCommand("init")} saves your choice.`);
  }
  const entry = Object.hasOwn(registry, said.value) ? registry[said.value] : undefined;
  if (entry === undefined)
    throw said.refuse(`there is no ${JSON.stringify(said.value)}; ${known}.${didYouMean(said.value, names)}`);
  return entry;
};
