import { join, resolve } from "node:path";
import * as Effect from "effect/Effect";
import { findHostSession } from "../../agentSessions/hostSessions.ts";
import { MIN_COPIED_ID_LENGTH } from "../../agentSessions/limits.ts";
import { attempt } from "../../boundary/failures.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { openRepository } from "../../git/repository.ts";
import { requireFreeName } from "../../options/checks/mcpServers.ts";
import type { Hooks, SandboxHooks } from "../../options/hooks.ts";
import type {
  AgentOptions,
  CheckoutOptions,
  EnvironmentOptions,
  ResumeOptions,
  RunOptions,
  SandboxRunOptions,
  WorktreeRunOptions,
} from "../../options/runOptions.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { TrajectoryPlan } from "../../trajectory/record/recorder.ts";
import type { LiveEnvironment } from "../environment/liveEnvironment.ts";
import { type EnvironmentPlan, planEnvironment } from "../environment/planEnvironment.ts";
import { DEFAULT_COMPLETION_SIGNAL } from "../iterations/completionSignal.ts";
import type { ParentSession } from "./parentSession.ts";
import type { AgentPlan, CheckoutPlan, ResumePlan, SandboxPlan, SourcePlan } from "./plan.ts";
import { type PlanRequest, planSession } from "./planSession.ts";

export const DEFAULTS = {
  maxIterations: 1,
  idleTimeoutSeconds: 600,
  completionTimeoutMs: 30_000,
  copyToWorktreeMs: 60_000,
  promptExpansionMs: 30_000,
  logging: { type: "file" },
} as const;

export const planCheckout = (
  options: CheckoutOptions & { readonly hooks?: Hooks },
  source: SourcePlan | undefined,
  { isShared = false, lasts = false } = {},
): CheckoutPlan => ({
  source,
  isShared,
  lasts,
  copyToWorktree: options.copyToWorktree ?? [],
  copyToWorktreeMs: options.timeouts?.copyToWorktreeMs ?? DEFAULTS.copyToWorktreeMs,
  onWorktreeReady: options.hooks?.host?.onWorktreeReady ?? [],
});

export const planSandbox = <Provider>(
  provider: Provider,
  { host, sandbox }: SandboxHooks = {},
  environment?: EnvironmentPlan,
): SandboxPlan<Provider> => {
  const inSandbox = sandbox?.onSandboxReady ?? [];
  return {
    provider,
    hooks: { "host.onSandboxReady": host?.onSandboxReady ?? [], "sandbox.onSandboxReady": inSandbox },
    usesSudo: inSandbox.some(({ sudo }) => sudo === true),
    environment,
  };
};

/** Plans a sandbox that may have an environment, which may be in the repository. */
export const planSandboxWithTests = <Provider extends SandboxProvider>(
  options: EnvironmentOptions & {
    readonly sandbox: Provider;
    readonly hooks?: SandboxHooks;
    readonly cwd?: string | undefined;
  },
  parentSession?: ParentSession,
) =>
  planEnvironment(
    options.environment,
    options.sandbox,
    parentSession === undefined
      ? openRepository(resolve(options.cwd ?? "."))
      : Effect.succeed(parentSession.repository),
  ).pipe(Effect.map((environment) => planSandbox(options.sandbox, options.hooks, environment)));

/** Values for MCP servers are secrets like those of env vars. */
const mcpSecrets = ({ mcpServers = {} }: AgentOptions<unknown>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(mcpServers).flatMap(([name, server]) =>
      Object.entries(("url" in server ? server.headers : server.env) ?? {}).map(
        ([key, value]) => [`mcpServers.${name}.${key}`, value] as const,
      ),
    ),
  );

/** A budget can stop nothing that it does not hear of in time. */
const budgetWarnings = ({ agent, maxTokens, maxCostUsd, maxIterations }: AgentOptions<unknown>): string[] => {
  const hasBudget = maxTokens !== undefined || maxCostUsd !== undefined;
  if (!hasBudget || agent.reportsUsage !== "perTurn" || (maxIterations ?? 1) > 1) return [];
  return [
    `The agent ${agent.name} tells only at the end of its turn what it has used: a budget cannot stop the one iteration of this run.`,
  ];
};

/** Looks for the session that is to be resumed: on the host, before anything is created. */
const planResume = (
  { agent, resumeSession, forkSession }: ResumeOptions & AgentOptions<unknown>,
  cwd: string,
) =>
  attempt((): ResumePlan | undefined => {
    const { sessions } = agent;
    if (resumeSession === undefined || sessions === undefined) return undefined;
    if (forkSession && sessions.forksByCopy && resumeSession.length < MIN_COPIED_ID_LENGTH) {
      throw new InvalidOptionsError("forkSession", "a session with so short an id cannot be copied.");
    }
    const files = findHostSession({ ...agent, sessions }, resumeSession, cwd);
    return { sessionId: resumeSession, isFork: forkSession ?? false, files };
  });

const waitMsOf = (onRateLimit: AgentOptions<unknown>["onRateLimit"] = "fail"): number =>
  onRateLimit === "fail" ? 0 : onRateLimit.waitUpToMs;

const planTrajectory = (option: AgentOptions<unknown>["trajectory"]): TrajectoryPlan | undefined =>
  option && { artifacts: (option === true ? undefined : option.artifacts) ?? [] };

const planAgent = (
  options: AgentOptions<unknown>,
  prompt: ResolvedPrompt,
  resume?: ResumePlan,
): AgentPlan => ({
  agent: options.agent,
  prompt,
  promptExpansionMs: options.timeouts?.promptExpansionMs ?? DEFAULTS.promptExpansionMs,
  output: options.output,
  maxIterations: options.maxIterations ?? DEFAULTS.maxIterations,
  untilTestsPass: options.until === "tests-pass",
  completionSignals: [options.completionSignal ?? DEFAULT_COMPLETION_SIGNAL].flat(),
  idleTimeoutMs: (options.idleTimeoutSeconds ?? DEFAULTS.idleTimeoutSeconds) * 1000,
  completionTimeoutMs: options.completionTimeoutMs ?? DEFAULTS.completionTimeoutMs,
  resume,
  mcpServers: options.mcpServers,
  budget: { maxTokens: options.maxTokens, maxCostUsd: options.maxCostUsd, prices: options.prices },
  rateLimitWaitMs: waitMsOf(options.onRateLimit),
  trajectory: planTrajectory(options.trajectory),
});

const requestOf = (options: AgentOptions<unknown>): PlanRequest => ({
  kind: "run",
  options,
  logging: options.logging ?? DEFAULTS.logging,
  agent: options.agent,
  secrets: mcpSecrets(options),
  warnings: budgetWarnings(options),
});

/** Plans `run()`. */
export const planRun = Effect.fnUntraced(function* (options: RunOptions) {
  const sandbox = yield* planSandboxWithTests(options);
  const { branchStrategy } = options;
  const resume = yield* planResume(options, resolve(options.cwd ?? "."));
  const planned = yield* planSession({ ...requestOf(options), sandbox, branchStrategy });
  return {
    session: planned.session,
    checkout: planCheckout(options, planned.source),
    sandbox,
    agent: planAgent(options, planned.prompt, resume),
  };
});

/** Plans `worktree.run()`. */
export const planWorktreeRun = Effect.fnUntraced(function* (
  options: WorktreeRunOptions,
  parentSession: ParentSession,
) {
  const sandbox = yield* planSandboxWithTests(options, parentSession);
  const { topLevel, prefix } = parentSession.repository;
  const resume = yield* planResume(options, join(topLevel, prefix));
  const { session, prompt } = yield* planSession({ ...requestOf(options), sandbox, parentSession });
  return { session, sandbox, agent: planAgent(options, prompt, resume) };
});

/** Whether there are tests was decided when the sandbox was made. */
const requireTests = (
  { until, mcpServers = {} }: SandboxRunOptions,
  environment: LiveEnvironment | undefined,
): void => {
  if (environment !== undefined) requireFreeName(mcpServers);
  else if (until !== undefined) {
    throw new InvalidOptionsError(
      "until",
      "there are no tests that could pass: pass `environment` to createSandbox().",
    );
  }
};

/** Plans `sandbox.run()`. */
export const planSandboxRun = Effect.fnUntraced(function* (
  options: SandboxRunOptions,
  parentSession: ParentSession,
  environment: LiveEnvironment | undefined,
) {
  yield* attempt(() => requireTests(options, environment));
  const { session, prompt } = yield* planSession({ ...requestOf(options), parentSession });
  return { session, agent: planAgent(options, prompt) };
});
