import { Option } from "commander";

/** A flag whose values appear in the help and the completions. The values are checked elsewhere. */
export const choices = (flags: string, description: string, values: readonly string[]): Option => {
  const option = new Option(flags, description);
  option.argChoices = [...values];
  return option;
};
