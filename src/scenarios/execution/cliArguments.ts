import type { CliStep } from "../spec.ts";

const ALL_FLAGS = "{...flags}";
const PLACEHOLDER = /\{(subcommand|projectRoot|baseUrl)\}/g;
/** An option that is left out if there is no base URL. */
const BASE_URL_OPTION = /^-[^=]*=\{baseUrl\}$/;

/** The command line of a `cli` step, from the suite's template. Substituted values are not substituted again. */
export const cliArguments = (
  template: readonly string[],
  step: CliStep,
  { projectRoot, baseUrl }: { readonly projectRoot: string; readonly baseUrl: string | undefined },
): readonly string[] => {
  const values: Record<string, string> = { subcommand: step.cli, projectRoot, baseUrl: baseUrl ?? "" };
  return template.flatMap((argument) => {
    if (argument === ALL_FLAGS) return step.flags ?? [];
    if (baseUrl === undefined && BASE_URL_OPTION.test(argument)) return [];
    return argument.replace(PLACEHOLDER, (_, name: string) => values[name] as string);
  });
};
