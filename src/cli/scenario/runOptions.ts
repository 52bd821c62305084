import type { ScenarioRunOptions } from "../../scenarios/contract.ts";
import { agentOptionsOf } from "./agentOptions.ts";
import type { ScenarioRunFlags } from "./runFlags.ts";
import { scenarioSandboxes } from "./sandbox.ts";

/** The options of `runScenarios()` that the command line stands for. */
export const runOptionsOf = (
  scenarioDir: string | undefined,
  flags: ScenarioRunFlags,
  env: NodeJS.ProcessEnv,
): ScenarioRunOptions => ({
  ...agentOptionsOf(flags, env),
  cwd: flags.cwd,
  config: flags.config,
  scenarioDir,
  only: flags.only,
  runnable: flags.runnable,
  sandbox: (needs) => scenarioSandboxes(flags, needs),
  baseUrl: flags.baseUrl,
  concurrency: flags.concurrency,
  repeat: flags.repeat,
  keepProjects: flags.keepTmp,
  keepRecords: flags.keep,
  ciUrl: flags.ci,
});
