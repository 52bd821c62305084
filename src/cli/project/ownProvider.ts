import { resolve } from "node:path";
import { findProject } from "../../project/findProject.ts";
import { isModulePath } from "../../project/modulePath.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { choicesOf } from "../run/runDefaults.ts";
import { tell } from "../shared/output.ts";
import { UsageError } from "../shared/usageError.ts";
import { configuredModule, loadProvider } from "./providerModule.ts";
import { requireTrust } from "./trust.ts";

const byFlag = (file: string): Promise<SandboxProvider> => {
  const refuse = (problem: string) => new UsageError(`--sandbox: ${problem}`);
  return loadProvider(resolve(file), { value: file, isFlag: true, refuse });
};

const byConfig = async (cwd: string | undefined): Promise<SandboxProvider | undefined> => {
  const project = await findProject(cwd);
  const { sandbox } = choicesOf({}, project);
  if (sandbox === undefined || !isModulePath(sandbox.value)) return undefined;
  requireTrust(project);
  return loadProvider(configuredModule(project), sandbox);
};

/**
 * The custom sandbox provider that a flag names, or else the project config. Without one, sandboxes of the other
 * providers are found all the same.
 */
export const findOwnProvider = async (
  file: string | undefined,
  cwd: string | undefined,
): Promise<SandboxProvider | undefined> => {
  if (file !== undefined) return byFlag(file);
  try {
    return await byConfig(cwd);
  } catch (error) {
    // What else is wrong with the repository, or with its config, the command itself says if it matters to it.
    if (error instanceof UsageError) await tell(`warning: ${error.message}`);
    return undefined;
  }
};

/** Where only files are of use: sandboxes of sanddune's own providers are found without being named. */
export const requireModulePath = (sandbox: string | undefined): void => {
  if (sandbox === undefined || isModulePath(sandbox)) return;
  throw new UsageError(
    `--sandbox: ${JSON.stringify(sandbox)} is not a file. Sandboxes of sanddune's own providers are found without it`,
  );
};
