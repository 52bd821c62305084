import type { EnvVars } from "../envVars.ts";
import type { LoggingOption } from "../index.ts";
import type { RunOptions } from "../runOptions.ts";
import { type AgentFlags, agentRegistry } from "./agentRegistry.ts";
import { readPrompt } from "./readPrompt.ts";
import { type SandboxFlags, sandboxRegistry } from "./sandboxRegistry.ts";
import { UsageError } from "./usageError.ts";

/** The flags of `sanddune run`, as the parser hands them over. */
export interface RunFlags extends SandboxFlags, AgentFlags {
  readonly cwd?: string;
  readonly agent?: string;
  readonly sandbox?: string;
  readonly branch?: string;
  readonly from?: string;
  readonly mergeToHead?: boolean;
  readonly head?: boolean;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly maxIterations?: number;
  readonly completionSignal?: string[];
  readonly idleTimeout?: number;
  readonly resumeSession?: string;
  readonly forkSession?: boolean;
  readonly maxTokens?: number;
  readonly copy?: string[];
  readonly promptArg?: string[];
  readonly env?: string[];
  readonly name?: string;
  readonly logging?: LoggingOption["type"];
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const lookUp = <Entry>(
  registry: Readonly<Record<string, Entry>>,
  flag: string,
  name: string | undefined,
): Entry => {
  const known = Object.keys(registry).join(", ");
  if (name === undefined) throw new UsageError(`${flag} is missing. Known are: ${known}`);
  const entry = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (entry === undefined)
    throw new UsageError(`${flag}: there is no ${JSON.stringify(name)}. Known are: ${known}`);
  return entry;
};

/** `undefined` leaves the choice to `run()`. */
const branchStrategyOf = (flags: RunFlags): RunOptions["branchStrategy"] => {
  if (flags.from !== undefined && flags.branch === undefined) {
    throw new UsageError("--from says where a new branch starts, so it needs --branch NAME");
  }
  if (flags.branch !== undefined) return { type: "branch", branch: flags.branch, from: flags.from };
  if (flags.mergeToHead) return { type: "merge-to-head" };
  return flags.head ? { type: "head" } : undefined;
};

/** A value on the command line can be read by everybody on this machine, and stays in the shell's history. */
const envOf = (names: readonly string[]): EnvVars => {
  const assignment = names.find((name) => name.includes("="));
  if (assignment !== undefined) {
    const [name] = assignment.split("=");
    throw new UsageError(
      `--env takes names only: other users could read the value of ${name} off the command line. Set it in your environment or in .sanddune/.env, and pass --env ${name}`,
    );
  }
  return Object.fromEntries(names.map((name) => [name, undefined]));
};

/** At a terminal the run shows itself; otherwise a log is the better record. */
const loggingOf = ({ logging, json, verbose }: RunFlags): LoggingOption => {
  if (json && logging === "stdout") {
    throw new UsageError("--json and --logging stdout both want the standard output: leave one of them out");
  }
  const type = logging ?? (process.stdout.isTTY && !json ? "stdout" : "file");
  return { type, ...(verbose && { verbose }) };
};

/** What `run()` is to be called with. */
export const runOptionsOf = async (flags: RunFlags): Promise<RunOptions> => {
  const agentName = flags.agent ?? (flags.agentCommand === undefined ? undefined : "command");
  const agent = lookUp(agentRegistry, "--agent", agentName).create(flags);
  const { image, network } = flags;
  const sandbox = await lookUp(sandboxRegistry, "--sandbox", flags.sandbox).create({ image, network });
  const branchStrategy = branchStrategyOf(flags);
  return {
    agent,
    sandbox,
    cwd: flags.cwd,
    branchStrategy,
    maxIterations: flags.maxIterations,
    completionSignal: flags.completionSignal,
    idleTimeoutSeconds: flags.idleTimeout,
    resumeSession: flags.resumeSession,
    forkSession: flags.forkSession,
    maxTokens: flags.maxTokens,
    copyToWorktree: flags.copy,
    name: flags.name,
    env: flags.env && envOf(flags.env),
    logging: loggingOf(flags),
    // Last, because it waits for standard input: every other mistake is told before that.
    ...(await readPrompt(flags)),
  };
};
