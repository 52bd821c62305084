import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ProjectConfigError } from "../errors/commandErrors.ts";
import { InvalidOptionsError } from "../errors.ts";
import type { BranchStrategy } from "../options/branchStrategy.ts";
import { branchStrategy } from "../options/checks/branchStrategy.ts";
import { type Check, type Checks, count, members, names, seconds, text } from "../options/checks/checks.ts";
import { hooks } from "../options/checks/hooks.ts";
import type { Hooks } from "../options/hooks.ts";
import { flagOf } from "../sandboxes/description/settings.ts";
import { sandboxSettings } from "../sandboxes/registry.ts";

/** The settings of a project that are names. Flags can set them as well. */
export interface ProjectNames {
  /** As `--agent`. */
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
  /** As `--sandbox`. */
  readonly sandbox?: string;
  readonly imageName?: string;
  /** As `--backlog` of init: the source of tasks for the prompts of the scaffold. */
  readonly backlog?: string;
}

/** Settings of runs, with the names of the options of `run()`. */
export interface RunDefaults {
  readonly branchStrategy?: BranchStrategy;
  readonly hooks?: Hooks;
  readonly copyToWorktree?: readonly string[];
  readonly maxIterations?: number;
  readonly idleTimeoutSeconds?: number;
}

/**
 * The defaults of the command line in a repository, written by `sanddune init`. Flags override them. It also holds
 * settings of sandbox providers: `sandboxSettingsIn()` reads them.
 */
export interface ProjectConfig extends ProjectNames, RunDefaults {
  /** The address of the JSON schema, for editors. */
  readonly $schema?: string;
}

const SANDBOX_CHECKS: Readonly<Record<string, Check>> = Object.fromEntries(
  [...sandboxSettings].flatMap(([name, { config }]) => (config === undefined ? [] : [[name, config]])),
);

const SETTINGS: Checks<ProjectConfig> = {
  $schema: text,
  agent: text,
  model: text,
  agentCommand: text,
  sandbox: text,
  imageName: text,
  backlog: text,
  ...SANDBOX_CHECKS,
  branchStrategy,
  hooks,
  copyToWorktree: names,
  maxIterations: count,
  idleTimeoutSeconds: seconds,
};

/** Settings that the config file must not contain, with their flags for a single run. */
const FLAGS_ONLY: ReadonlyMap<string, string> = new Map([
  ...[...sandboxSettings]
    .filter(([name]) => !Object.hasOwn(SETTINGS, name))
    .map(([name, setting]) => [name, flagOf(setting)] as const),
  ["env", "--env"],
]);

/** The settings of sandbox providers in a project config. */
export const sandboxSettingsIn = (config: ProjectConfig): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => Object.hasOwn(SANDBOX_CHECKS, name)));

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

/** Checks the content of a project config. Throws an `InvalidOptionsError`. */
export const checkProjectConfig = (config: unknown): ProjectConfig => {
  const flagsOnly = Object.keys(config ?? {}).find((key) => FLAGS_ONLY.has(key));
  if (flagsOnly !== undefined) {
    throw new InvalidOptionsError(
      flagsOnly,
      `cannot be set in this file. Set it for a single run: ${FLAGS_ONLY.get(flagsOnly)}`,
    );
  }
  return members("options", config, SETTINGS);
};

/** Reads `.sanddune/config.json`; without that file no setting has a default. Throws a `ProjectConfigError`. */
export const readProjectConfig = (configDirectory: string): ProjectConfig => {
  const path = projectConfigPath(configDirectory);
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return {};
  // An agent may commit a link to another file.
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
