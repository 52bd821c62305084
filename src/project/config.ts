import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ProjectConfigError } from "../errors/commandErrors.ts";
import { InvalidOptionsError } from "../errors.ts";
import type { BranchStrategy } from "../options/branchStrategy.ts";
import { branchStrategy } from "../options/checks/branchStrategy.ts";
import { aboveZero, type Checks, count, members, names, seconds, text } from "../options/checks/checks.ts";
import { hooks } from "../options/checks/hooks.ts";
import { type MountOption, mountOptions } from "../options/checks/mounts.ts";
import { absolutePaths, memory, network } from "../options/checks/sandboxSettings.ts";
import type { Hooks } from "../options/hooks.ts";

/** The settings of a project that are names, which flags can say as well. */
export interface ProjectNames {
  /** As `--agent`. */
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
  /** As `--sandbox`. */
  readonly sandbox?: string;
  readonly imageName?: string;
  /** As `--backlog` of init: where the prompts of the scaffold look for tasks. */
  readonly backlog?: string;
}

/** Settings of the sandbox that `sandbox` names, called as the options of its provider. */
export interface SandboxDefaults {
  readonly network?: string | readonly string[];
  readonly mounts?: readonly MountOption[];
  readonly readOnlyPaths?: readonly string[];
  readonly path?: string;
  readonly memory?: string;
  readonly cpus?: number;
  readonly pids?: number;
}

/** Settings of runs, called as the options of `run()`. */
export interface RunDefaults {
  readonly branchStrategy?: BranchStrategy;
  readonly hooks?: Hooks;
  readonly copyToWorktree?: readonly string[];
  readonly maxIterations?: number;
  readonly idleTimeoutSeconds?: number;
}

/** What the command line takes for granted in a repository; flags win over it. Written by `sanddune init`. */
export interface ProjectConfig extends ProjectNames, SandboxDefaults, RunDefaults {
  /** The address of the JSON schema, for editors. */
  readonly $schema?: string;
}

export const SANDBOX_DEFAULTS: Checks<SandboxDefaults> = {
  network,
  mounts: mountOptions,
  readOnlyPaths: absolutePaths,
  path: text,
  memory,
  cpus: aboveZero,
  pids: count,
};

const SETTINGS: Checks<ProjectConfig> = {
  $schema: text,
  agent: text,
  model: text,
  agentCommand: text,
  sandbox: text,
  imageName: text,
  backlog: text,
  ...SANDBOX_DEFAULTS,
  branchStrategy,
  hooks,
  copyToWorktree: names,
  maxIterations: count,
  idleTimeoutSeconds: seconds,
};

/** They take protection away, or send the work elsewhere: that is said for a run, and by nothing that comes with a repository. */
const FLAGS_ONLY: ReadonlyMap<string, string> = new Map([
  ["allowUnsafeMounts", "--allow-unsafe-mounts"],
  ["capabilities", "--capability"],
  ["extraArgs", "--engine-arg"],
  ["host", "--host"],
  ["user", "--user"],
  ["env", "--env"],
]);

export const PROJECT_CONFIG_FILE = "config.json";

export const projectConfigPath = (configDirectory: string): string =>
  join(configDirectory, PROJECT_CONFIG_FILE);

const parse = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new ProjectConfigError(path, `it could not be read: ${(error as Error).message}`, { cause: error });
  }
};

/** Checks what a project config holds; throws an `InvalidOptionsError`. */
export const checkProjectConfig = (config: unknown): ProjectConfig => {
  const flagsOnly = Object.keys(config ?? {}).find((key) => FLAGS_ONLY.has(key));
  if (flagsOnly !== undefined) {
    throw new InvalidOptionsError(
      flagsOnly,
      `this cannot be set here, only for a single run: ${FLAGS_ONLY.get(flagsOnly)}`,
    );
  }
  return members("options", config, SETTINGS);
};

/** Reads `.sanddune/config.json`; a repository without one has nothing for granted. Throws a `ProjectConfigError`. */
export const readProjectConfig = (configDirectory: string): ProjectConfig => {
  const path = projectConfigPath(configDirectory);
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return {};
  // What agents commit must not lead sanddune elsewhere.
  if (!status.isFile()) throw new ProjectConfigError(path, "it is not a regular file");
  const config = parse(path);
  try {
    return checkProjectConfig(config);
  } catch (error) {
    if (!(error instanceof InvalidOptionsError)) throw error;
    const { option, problem } = error;
    throw new ProjectConfigError(path, option === "options" ? `it ${problem}` : `${option}: ${problem}`);
  }
};
