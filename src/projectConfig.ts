import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ProjectConfigError } from "./commandErrors.ts";

/** What the command line takes for granted in a repository; flags win over it. Written by `sanddune init`. */
export interface ProjectConfig {
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

const KEYS: readonly (keyof ProjectConfig)[] = [
  ...(["agent", "model", "agentCommand", "sandbox", "imageName", "backlog"] as const),
];

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

/** Reads `.sanddune/config.json`; a repository without one has nothing for granted. Throws a `ProjectConfigError`. */
export const readProjectConfig = (configDirectory: string): ProjectConfig => {
  const path = projectConfigPath(configDirectory);
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return {};
  // What agents commit must not lead sanddune elsewhere.
  if (!status.isFile()) throw new ProjectConfigError(path, "it is not a regular file");
  const config = parse(path);
  if (typeof config !== "object" || config === null || Array.isArray(config)) {
    throw new ProjectConfigError(path, "it must hold one JSON object");
  }
  for (const [key, value] of Object.entries(config)) {
    if (!KEYS.some((known) => known === key)) {
      throw new ProjectConfigError(
        path,
        `there is no setting ${JSON.stringify(key)}. Known are: ${KEYS.join(", ")}`,
      );
    }
    if (typeof value !== "string" || value === "") {
      throw new ProjectConfigError(path, `${key} must be a text that is not empty`);
    }
  }
  return config as ProjectConfig;
};
