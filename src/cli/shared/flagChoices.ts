import { Option } from "commander";

/** A flag whose known values the help and the completions tell. Whether a value is one of them is checked elsewhere. */
export const choices = (flags: string, description: string, values: readonly string[]): Option => {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
};
