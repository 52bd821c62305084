import { type Command, Option } from "commander";
import { findProject } from "../../project/findProject.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { flagKeyOf, flagOf, type SandboxSetting } from "../../sandboxes/description/settings.ts";
import { sandboxSettings } from "../../sandboxes/registry.ts";
import { choices } from "../shared/flagChoices.ts";
import { createSandboxProvider, sandboxNames } from "./chosenSandbox.ts";
import { choicesOf } from "./runDefaults.ts";
import { collect, collectHosts, collectMounts, numberAboveZero, seconds, wholeNumber } from "./runValues.ts";

/** The sandbox flags that commands read by their names; `settingsIn()` reads all of them. */
export interface SandboxFlags {
  readonly sandbox?: string;
  readonly imageName?: string;
  readonly network?: readonly string[];
  readonly host?: readonly string[];
}

type Reader = (text: string, earlier: never) => unknown;

const READERS: Readonly<Record<SandboxSetting["kind"], Reader | undefined>> = {
  text: undefined,
  texts: collect,
  switch: undefined,
  number: numberAboveZero,
  count: wholeNumber,
  duration: (text) => seconds(text) * 1000,
  mounts: collectMounts,
  hosts: collectHosts,
};

const optionFor = ({ flag, help, kind, choices: values }: SandboxSetting): Option => {
  const option = new Option(flag, help);
  const read = READERS[kind];
  if (read !== undefined) option.argParser(read as (text: string, earlier: unknown) => unknown);
  return values === undefined ? option : option.choices(values);
};

/** Adds the flags of all settings that sandbox providers have. */
export const addSettingFlags = (command: Command): Command =>
  [...sandboxSettings.values()].reduce((to, setting) => to.addOption(optionFor(setting)), command);

const GENERAL = [...sandboxSettings.values()].filter(({ isGeneral }) => isGeneral);

/** Adds the flags of commands that use sandboxes without a run. */
export const addGeneralFlags = (command: Command): Command =>
  GENERAL.reduce((to, setting) => to.addOption(optionFor(setting)), command);

/** The same, and `--sandbox`. */
export const addSandboxFlags = (command: Command): Command =>
  addGeneralFlags(
    command.addOption(choices("--sandbox <name>", "the sandbox that the tests run in", sandboxNames)),
  );

/** The first of the general flags on the command line. */
export const givenSettingFlag = (flags: SandboxFlags): string | undefined => {
  const given = GENERAL.find((setting) => Reflect.get(flags, flagKeyOf(setting)) !== undefined);
  return given && flagOf(given);
};

/** The same, `--sandbox` included. */
export const givenSandboxFlag = (flags: SandboxFlags): string | undefined =>
  flags.sandbox === undefined ? givenSettingFlag(flags) : "--sandbox";

/** The sandbox that the flags choose, or else the project config. */
export const sandboxFor = async (flags: SandboxFlags, cwd: string | undefined): Promise<SandboxProvider> => {
  const project = await findProject(cwd);
  const { sandbox, imageName } = choicesOf(flags, project);
  return createSandboxProvider({ sandbox, imageName }, flags, project);
};
