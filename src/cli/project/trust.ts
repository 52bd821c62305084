import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sandduneCommand } from "../../process/ownCommand/sandduneCommand.ts";
import { type ProjectConfig, sandboxSettingsIn } from "../../project/config.ts";
import type { Project } from "../../project/findProject.ts";
import { isModulePath } from "../../project/modulePath.ts";
import { sandboxSettings } from "../../sandboxes/registry.ts";
import { orUndefined } from "../../tools/orUndefined.ts";
import { UsageError } from "../shared/usageError.ts";
import { configuredModule } from "./providerModule.ts";

type Trusting = Pick<Project, "config" | "configPath" | "configDirectory" | "gitDirectory">;

/** In the git directory, which no commit can change and no sandbox can read. */
const trustPath = ({ gitDirectory }: Trusting): string => join(gitDirectory, "sanddune-trusted");

/** The settings of sandboxes that let a sandbox reach more of this machine. */
const openingSettings = (config: ProjectConfig): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(sandboxSettingsIn(config)).filter(([name, value]) =>
      sandboxSettings.get(name)?.needsTrust?.(value),
    ),
  );

/**
 * The settings of a project config that run code on this machine, or let a sandbox reach more of it. An agent may have
 * written the config file, because it is part of the repository.
 */
export const hostSettings = (project: Trusting): Readonly<Record<string, unknown>> => {
  const { config } = project;
  const { hooks, copyToWorktree, branchStrategy, sandbox } = config;
  const rootHooks = hooks?.sandbox?.onSandboxReady?.filter(({ sudo }) => sudo) ?? [];
  return {
    ...(sandbox !== undefined &&
      isModulePath(sandbox) && { sandbox, source: readFileSync(configuredModule(project), "utf8") }),
    ...(hooks?.host !== undefined && { "hooks.host": hooks.host }),
    // A container with a root hook has additional capabilities.
    ...(rootHooks.length > 0 && { "hooks.sandbox": rootHooks }),
    ...openingSettings(config),
    // Files that git ignores often contain secrets.
    ...(copyToWorktree !== undefined && { copyToWorktree }),
    ...(branchStrategy?.type === "head" && { branchStrategy }),
  };
};

const digestOf = async (settings: Readonly<Record<string, unknown>>): Promise<string> => {
  // Loaded by all of the command line, this would slow its start.
  const { createHash } = await import("node:crypto");
  return createHash("sha256").update(JSON.stringify(settings)).digest("hex");
};

const trusted = (project: Trusting): readonly string[] =>
  orUndefined(() => readFileSync(trustPath(project), "utf8").split("\n")) ?? [];

/** Records that the user trusts these settings, until they change. */
export const trust = async (project: Trusting): Promise<void> => {
  appendFileSync(trustPath(project), `${await digestOf(hostSettings(project))}\n`, { mode: 0o600 });
};

/** The problem and its fix if the project config has such settings that the user does not trust yet. */
export const findDistrust = async (
  project: Trusting,
): Promise<{ readonly problem: string; readonly fix: string } | undefined> => {
  const settings = hostSettings(project);
  const names = Object.keys(settings).filter((name) => name !== "source");
  if (names.length === 0 || trusted(project).includes(await digestOf(settings))) return undefined;
  return {
    problem: `${project.configPath} sets ${names.join(", ")}, which runs code on this machine or opens it to the sandbox. You have not trusted these settings yet`,
    fix: `Read it, then allow it: ${sandduneCommand("trust")}`,
  };
};

/** Throws if the project config has such settings that the user does not trust yet. */
export const requireTrust = async (project: Trusting): Promise<void> => {
  const distrust = await findDistrust(project);
  if (distrust !== undefined) throw new UsageError(`${distrust.problem}. ${distrust.fix}`);
};
