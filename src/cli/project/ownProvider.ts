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
  await requireTrust(project);
  return loadProvider(configuredModule(project), sandbox);
};

/** The custom provider that a flag or the project config names. The built-in ones are found without it. */
export const findOwnProvider = async (
  file: string | undefined,
  cwd: string | undefined,
): Promise<SandboxProvider | undefined> => {
  if (file !== undefined) return byFlag(file);
  try {
    return await byConfig(cwd);
  } catch (error) {
    // The command itself reports other problems of the repository or its config, if they matter to it.
    if (error instanceof UsageError) await tell(`warning: ${error.message}`);
    return undefined;
  }
};

/** Refuses the name of a built-in provider: its sandboxes are found without a flag. */
export const requireModulePath = (sandbox: string | undefined): void => {
  if (sandbox === undefined || isModulePath(sandbox)) return;
  throw new UsageError(
    `--sandbox: ${JSON.stringify(sandbox)} is not a file. Sandboxes of built-in providers are found without this flag`,
  );
};
