import { dirname, resolve } from "node:path";
import { ProjectConfigError } from "../../errors/commandErrors.ts";
import { InvalidOptionsError } from "../../errors.ts";
import type { BranchStrategy } from "../../index.ts";
import type { MountOption } from "../../options/checks/mounts.ts";
import { type ProjectConfig, SANDBOX_DEFAULTS } from "../../project/config.ts";
import type { Project } from "../../project/findProject.ts";
import type { SandboxEntry, SandboxSettings } from "../../sandboxes/registry.ts";
import { withoutUndefined } from "../../tools/values/withoutUndefined.ts";
import type { StrategyFlags } from "../run/chosenStrategy.ts";
import type { RunFlags } from "../run/runFlags.ts";

/** The settings of the command line that settings of the project config stand for. */
const SETTING_OF = {
  network: "network",
  mounts: "mount",
  readOnlyPaths: "readOnlyPath",
  path: "path",
  memory: "memory",
  cpus: "cpus",
  pids: "pids",
} as const satisfies Record<keyof typeof SANDBOX_DEFAULTS, keyof SandboxSettings>;

type Configured = Pick<Project, "config" | "configPath">;

/** The file is the same wherever in the repository a command is called. */
const inRepository = (configPath: string) => {
  const repository = dirname(dirname(configPath));
  return ({ hostPath, ...mount }: MountOption): MountOption => ({
    ...mount,
    hostPath: hostPath.startsWith("~") ? hostPath : resolve(repository, hostPath),
  });
};

const SANDBOX_KEYS = Object.keys(SANDBOX_DEFAULTS) as (keyof typeof SANDBOX_DEFAULTS)[];

/** The settings that the project config has for its own sandbox. Those of another one are that one's. */
export const sandboxDefaults = (
  { config, configPath }: Configured,
  sandbox: string,
  { settings }: Pick<SandboxEntry, "settings">,
): SandboxSettings => {
  if (config.sandbox !== sandbox) return {};
  const given = SANDBOX_KEYS.filter((key) => config[key] !== undefined);
  const foreign = given.find((key) => !settings.includes(SETTING_OF[key]));
  if (foreign !== undefined) {
    throw new ProjectConfigError(configPath, `${foreign}: it means nothing to the sandbox ${sandbox}`);
  }
  const network = typeof config.network === "string" ? [config.network] : config.network;
  const values = { ...config, network, mounts: config.mounts?.map(inRepository(configPath)) };
  return Object.fromEntries(given.map((key) => [SETTING_OF[key], values[key]]));
};

/** The flags that set what a setting of the file sets. */
const FLAGS_OF: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(SETTING_OF).map(([key, setting]) => [key, [setting]])),
  copyToWorktree: ["copy"],
  idleTimeoutSeconds: ["idleTimeout"],
  branchStrategy: ["branch", "mergeToHead", "head"],
};

/** An error about a value that stands in the file, in its words. */
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

/** The flags of a run, with those that the project config stands for where none was given. */
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
