import { NotARepositoryError } from "../../errors.ts";
import { findProject } from "../../project/findProject.ts";
import { isModulePath } from "../../project/modulePath.ts";
import type { ScenarioNeeds, ScenarioSandboxes } from "../../scenarios/contract.ts";
import { createSandboxProvider, sandboxNames } from "../run/chosenSandbox.ts";
import { choicesOf, type Said } from "../run/runDefaults.ts";
import { givenSettingFlag } from "../run/sandboxFlags.ts";
import { UsageError } from "../shared/usageError.ts";
import { NO_SANDBOX, type ScenarioRunFlags } from "./runFlags.ts";

/** A suite need not be in a repository; then there is no config file. */
const NO_PROJECT = { configPath: "", configDirectory: "", gitDirectory: "", config: {} };

const projectOf = async (cwd: string | undefined) =>
  findProject(cwd).catch((error: unknown) => {
    if (error instanceof NotARepositoryError) return NO_PROJECT;
    throw error;
  });

/** Their containers run on this machine and can use its network. */
const ENGINES = ["docker", "podman"];

const requireMirror = (
  sandbox: Said,
  { network, host }: ScenarioRunFlags,
  { usesMirror }: ScenarioNeeds,
): void => {
  if (usesMirror && host !== undefined) {
    throw new UsageError(
      "The local mirror is on this machine's loopback, which a container on another machine cannot reach. Use --base-url with an address that it can reach",
    );
  }
  if (!usesMirror || sandbox.value === "bubblewrap") return;
  if (!ENGINES.includes(sandbox.value)) {
    throw new UsageError(
      `The local mirror is on this machine's loopback, which a sandbox of ${sandbox.value} cannot reach. Use --base-url with an address that it can reach`,
    );
  }
  if (network?.includes("host")) return;
  throw new UsageError(
    `The local mirror is on this machine's loopback, which a container of ${sandbox.value} cannot reach by its own network. Use --network host, or --base-url with an address that it can reach`,
  );
};

/** A flag without any effect is a mistake. */
const refuseSandboxFlags = (flags: ScenarioRunFlags): void => {
  const given = givenSettingFlag(flags);
  if (given === undefined) return;
  throw new UsageError(
    `${given} is for a sandbox, and none is used. Choose one: --sandbox ${sandboxNames.join("|")}`,
  );
};

/** The sandboxes that the flags choose. `--sandbox` is for everything; the sandbox of the config file is for agents only. */
export const scenarioSandboxes = async (
  flags: ScenarioRunFlags,
  needs: ScenarioNeeds,
): Promise<ScenarioSandboxes> => {
  if (flags.sandbox === NO_SANDBOX) {
    refuseSandboxFlags(flags);
    return { cli: "none", agent: "none" };
  }
  if (flags.sandbox !== undefined && !sandboxNames.includes(flags.sandbox) && !isModulePath(flags.sandbox)) {
    const known = [...sandboxNames, NO_SANDBOX].join(", ");
    throw new UsageError(
      `--sandbox: there is no ${JSON.stringify(flags.sandbox)}. Expected one of: ${known}`,
    );
  }
  if (flags.sandbox === undefined && !needs.usesAgent) {
    refuseSandboxFlags(flags);
    return { cli: "none" };
  }
  const project = await projectOf(flags.cwd);
  const { sandbox, imageName } = choicesOf(flags, project);
  if (sandbox === undefined) {
    refuseSandboxFlags(flags);
    return { cli: "none" };
  }
  requireMirror(sandbox, flags, needs);
  const create = (needsNetwork: boolean) => {
    const network = flags.network ?? (needsNetwork && sandbox.value === "bubblewrap" ? ["host"] : undefined);
    return createSandboxProvider({ sandbox, imageName }, { ...flags, network }, project);
  };
  return {
    cli: flags.sandbox === undefined ? "none" : await create(needs.usesMirror),
    agent: await create(needs.usesModel || needs.usesMirror),
  };
};
