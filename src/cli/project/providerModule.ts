import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { problemOf } from "../../options/checks/checks.ts";
import { sandbox as sandboxCheck } from "../../options/checks/sandbox.ts";
import { PRIVATE_PARTS } from "../../options/configDirectory.ts";
import type { Project } from "../../project/findProject.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { addLeftovers } from "../../sandboxes/registry.ts";
import { isInside } from "../../tools/isInside.ts";
import type { Said } from "../run/runDefaults.ts";

/** Whether only the user can change the file: merge-to-head does not merge commits to `.sanddune/`, and runs write only to their own parts. */
const isUsers = (real: string, configDirectory: string): boolean => {
  const parts = PRIVATE_PARTS.map((part) => join(configDirectory, part));
  return isInside(configDirectory, real) && !parts.some((part) => isInside(part, real));
};

/**
 * The module that the project config names, relative to the repository. It must be in `.sanddune/` or outside the repository,
 * because commits of agents can change any other file without a review.
 */
export const configuredModule = ({
  config,
  configPath,
  configDirectory,
}: Pick<Project, "config" | "configPath" | "configDirectory">): string => {
  const checkout = dirname(configDirectory);
  const path = resolve(checkout, config.sandbox ?? "");
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw new ProjectConfigError(
      configPath,
      `sandbox: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  if (isInside(realpathSync(checkout), real) && !isUsers(real, realpathSync(configDirectory))) {
    throw new ProjectConfigError(
      configPath,
      "sandbox: the module must be in .sanddune/ or outside the repository, because agents may change every other file. For a single run, pass it with --sandbox",
    );
  }
  return real;
};

/** Loads the sandbox provider that is the default export of a module. The module runs on this machine, as the user. */
export const loadProvider = async (path: string, said: Said): Promise<SandboxProvider> => {
  if (!existsSync(path)) throw said.refuse(`there is no file ${path}`);
  const exported: { readonly default?: unknown } = await import(pathToFileURL(path).href).catch(
    (error: unknown) => {
      throw said.refuse(`${path} could not be loaded: ${error instanceof Error ? error.message : error}`);
    },
  );
  const problem = problemOf(sandboxCheck, exported.default);
  if (problem !== undefined) throw said.refuse(`the default export of ${path} ${problem}`);
  const provider = exported.default as SandboxProvider;
  if (provider.leftovers !== undefined) addLeftovers(provider.name, provider.leftovers);
  return provider;
};
