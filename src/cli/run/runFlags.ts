import type { LoggingOption } from "../../index.ts";
import { Output } from "../../options/checks/output.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { RunOptions } from "../../options/runOptions.ts";
import type { Project } from "../../project/findProject.ts";
import { withRunDefaults } from "../project/configured.ts";
import { UsageError } from "../shared/usageError.ts";
import { type AgentFlags, createAgent } from "./agentFlags.ts";
import { createSandboxProvider } from "./chosenSandbox.ts";
import { chosenStrategy, type StrategyFlags } from "./chosenStrategy.ts";
import { readPrompt } from "./readPrompt.ts";
import { choicesOf } from "./runDefaults.ts";
import { readRunFiles } from "./runFiles.ts";
import type { SandboxFlags } from "./sandboxFlags.ts";

/** The flags of `sanddune run`, as the parser returns them. */
export interface RunFlags extends SandboxFlags, AgentFlags, StrategyFlags {
  readonly cwd?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly agentCommand?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly promptArg?: readonly string[];
  readonly promptExpansionTimeout?: number;
  /** `false`: as `--no-cache`. */
  readonly cache?: boolean;
  readonly environment?: string;
  readonly isolation?: "shared" | "strict";
  readonly until?: RunOptions["until"];
  readonly maxIterations?: number;
  readonly completionSignal?: readonly string[];
  readonly outputTag?: string;
  readonly trajectory?: boolean;
  readonly artifact?: readonly string[];
  readonly idleTimeout?: number;
  readonly completionTimeout?: number;
  readonly resumeSession?: string;
  readonly forkSession?: boolean;
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly prices?: string;
  readonly onRateLimit?: RunOptions["onRateLimit"];
  readonly mcpConfig?: string;
  readonly hooks?: string;
  readonly copy?: readonly string[];
  readonly copyTimeout?: number;
  readonly env?: readonly string[];
  readonly name?: string;
  readonly logging?: LoggingOption["type"];
  readonly verbose?: boolean;
  readonly json?: boolean;
  readonly tasks?: string;
  readonly concurrency?: number;
  readonly retries?: number;
}

/** Only names: all users of this machine can read a value on the command line, and it stays in the shell's history. */
const envOf = (names: readonly string[]): EnvVars => {
  const assignment = names.find((name) => name.includes("="));
  if (assignment !== undefined) {
    const [name] = assignment.split("=");
    throw new UsageError(
      `--env takes names only: other users could read the value of ${name} on the command line. Set it in your environment or in .sanddune/.env, and pass --env ${name}`,
    );
  }
  return Object.fromEntries(names.map((name) => [name, undefined]));
};

/** Terminal mode at a terminal, log-to-file mode otherwise. */
const loggingOf = ({ logging, json, verbose }: RunFlags): LoggingOption => {
  if (json && logging === "stdout") {
    throw new UsageError("--json and --logging stdout both use the standard output: remove one of them");
  }
  const type = logging ?? (process.stdout.isTTY && !json ? "stdout" : "file");
  return { type, ...(verbose && { verbose }) };
};

const environmentOf = ({ environment, isolation }: RunFlags): RunOptions["environment"] => {
  if (environment !== undefined) return { path: environment, ...(isolation !== undefined && { isolation }) };
  if (isolation !== undefined) throw new UsageError("--isolation needs --environment DIR");
  return undefined;
};

const trajectoryOf = ({ trajectory, artifact }: RunFlags): RunOptions["trajectory"] => {
  if (trajectory) return { artifacts: artifact ?? [] };
  if (artifact !== undefined) throw new UsageError("--artifact needs --trajectory");
  return undefined;
};

const inMs = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : seconds * 1000;

/** The options of `run()` without the prompt. */
export const settingsOf = async (given: RunFlags, project: Project) => {
  const choices = choicesOf(given, project);
  const agent = createAgent(choices, given);
  const sandbox = await createSandboxProvider(choices, given, project);
  const flags = withRunDefaults(given, project.config);
  return {
    agent,
    sandbox,
    cwd: flags.cwd,
    branchStrategy: await chosenStrategy(flags, sandbox, project),
    environment: environmentOf(flags),
    until: flags.until,
    trajectory: trajectoryOf(flags),
    maxIterations: flags.maxIterations,
    completionSignal: flags.completionSignal,
    output: flags.outputTag === undefined ? undefined : Output.string({ tag: flags.outputTag }),
    idleTimeoutSeconds: flags.idleTimeout,
    completionTimeoutMs: inMs(flags.completionTimeout),
    resumeSession: flags.resumeSession,
    forkSession: flags.forkSession,
    maxTokens: flags.maxTokens,
    maxCostUsd: flags.maxCostUsd,
    onRateLimit: flags.onRateLimit,
    copyToWorktree: flags.copy,
    timeouts: {
      copyToWorktreeMs: inMs(flags.copyTimeout),
      promptExpansionMs: inMs(flags.promptExpansionTimeout),
    },
    name: flags.name,
    env: flags.env && envOf(flags.env),
    logging: loggingOf(flags),
    hooks: project.config.hooks,
    ...(flags.cache === false && { cache: false }),
    ...(await readRunFiles(flags)),
  };
};

export const runOptionsOf = async (flags: RunFlags, project: Project): Promise<RunOptions> => {
  const settings = await settingsOf(flags, project);
  // Last, because it waits for standard input: all other mistakes are reported before that.
  return { ...settings, ...(await readPrompt(flags, project.configDirectory)) };
};
