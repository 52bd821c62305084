import { dirname, resolve } from "node:path";
import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { InvalidOptionsError } from "../../errors.ts";
import type { BranchStrategy } from "../../index.ts";
import type { MountOption } from "../../options/checks/mounts.ts";
import { type ProjectConfig, sandboxSettingsIn } from "../../project/config.ts";
import type { Project } from "../../project/findProject.ts";
import type { ProviderDescription } from "../../sandboxes/description/providerDescription.ts";
import { flagKeyOf } from "../../sandboxes/description/settings.ts";
import { sandboxSettings } from "../../sandboxes/registry.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";
import type { StrategyFlags } from "../run/chosenStrategy.ts";
import type { RunFlags } from "../run/runFlags.ts";

type Configured = Pick<Project, "config" | "configPath">;

/** The settings whose values differ between the file and the providers' options. */
interface SharedSettings {
  readonly network?: string | readonly string[];
  readonly mounts?: readonly MountOption[];
}

/** Paths are relative to the repository, wherever the command is called. */
const inRepository = (configPath: string) => {
  const repository = dirname(dirname(configPath));
  return ({ hostPath, ...mount }: MountOption): MountOption => ({
    ...mount,
    hostPath: hostPath.startsWith("~") ? hostPath : resolve(repository, hostPath),
  });
};

/** The settings that the project config has for its own sandbox. Those of another sandbox are not used. */
export const sandboxDefaults = (
  { config, configPath }: Configured,
  { name, settings }: Pick<ProviderDescription, "name" | "settings">,
): Readonly<Record<string, unknown>> => {
  if (config.sandbox !== name) return {};
  const given = sandboxSettingsIn(config);
  const foreign = Object.keys(given).find((key) => !Object.hasOwn(settings, key));
  if (foreign !== undefined) {
    throw new ProjectConfigError(configPath, `${foreign}: it does not apply to the sandbox ${name}`);
  }
  const { network, mounts } = given as SharedSettings;
  return {
    ...given,
    ...(network !== undefined && { network: [network].flat() }),
    ...(mounts !== undefined && { mounts: mounts.map(inRepository(configPath)) }),
  };
};

/** The flags that set the same as a key of the file. */
const FLAGS_OF: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries([...sandboxSettings].map(([key, setting]) => [key, [flagKeyOf(setting)]])),
  copyToWorktree: ["copy"],
  idleTimeoutSeconds: ["idleTimeout"],
  branchStrategy: ["branch", "mergeToHead", "head"],
};

/** An error about a value of the file, with the name of its setting. */
export const asConfigError = (error: unknown, { config, configPath }: Configured, flags: object): unknown => {
  if (!(error instanceof InvalidOptionsError)) return error;
  const [root = ""] = error.option.split(/[.[]/);
  const isFlag = (FLAGS_OF[root] ?? [root]).some((flag) => Reflect.get(flags, flag) !== undefined);
  const isConfigured = Object.hasOwn(config, root) && !isFlag;
  return isConfigured ? new ProjectConfigError(configPath, `${error.option}: ${error.problem}`) : error;
};

const strategyFlags = (strategy: BranchStrategy): StrategyFlags => {
  if (strategy.type === "branch") {
    return { branch: strategy.branch, ...(strategy.from !== undefined && { from: strategy.from }) };
  }
  return strategy.type === "head" ? { head: true } : { mergeToHead: true };
};

const hasStrategy = ({ branch, mergeToHead, head }: StrategyFlags): boolean =>
  [branch, mergeToHead, head].some((flag) => flag !== undefined);

export const withRunDefaults = (flags: RunFlags, config: ProjectConfig): RunFlags => {
  const { branchStrategy, copyToWorktree, maxIterations, idleTimeoutSeconds } = config;
  const defaults = {
    ...(branchStrategy !== undefined && !hasStrategy(flags) && strategyFlags(branchStrategy)),
    ...(copyToWorktree !== undefined && { copy: copyToWorktree }),
    ...(maxIterations !== undefined && { maxIterations }),
    ...(idleTimeoutSeconds !== undefined && { idleTimeout: idleTimeoutSeconds }),
  };
  return { ...defaults, ...withoutUndefined(flags) };
};
