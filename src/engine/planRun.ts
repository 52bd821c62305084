import * as Effect from "effect/Effect";
import type { SourceBranch } from "../git/worktrees.ts";
import type { Hooks, SandboxHooks } from "../hooks.ts";
import type { ResolvedPrompt } from "../prompt/resolvePrompt.ts";
import type {
  AgentOptions,
  CheckoutOptions,
  RunOptions,
  SandboxRunOptions,
  WorktreeRunOptions,
} from "../runOptions.ts";
import { DEFAULT_COMPLETION_SIGNAL } from "./completionSignal.ts";
import type { AgentPlan, CheckoutPlan, SandboxPlan } from "./plan.ts";
import { type PlanRequest, planSession } from "./planSession.ts";
import type { Surroundings } from "./surroundings.ts";

export const DEFAULTS = {
  maxIterations: 1,
  idleTimeoutSeconds: 600,
  completionTimeoutSeconds: 30,
  copyToWorktreeMs: 60_000,
  promptExpansionMs: 30_000,
  logging: { type: "file" },
} as const;

export const planCheckout = (
  options: CheckoutOptions & { readonly hooks?: Hooks },
  source: SourceBranch | undefined,
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
): SandboxPlan<Provider> => {
  const inSandbox = sandbox?.onSandboxReady ?? [];
  return {
    provider,
    hooks: { "host.onSandboxReady": host?.onSandboxReady ?? [], "sandbox.onSandboxReady": inSandbox },
    usesSudo: inSandbox.some(({ sudo }) => sudo === true),
  };
};

const planAgent = (options: AgentOptions<unknown>, prompt: ResolvedPrompt): AgentPlan => ({
  agent: options.agent,
  prompt,
  promptExpansionMs: options.timeouts?.promptExpansionMs ?? DEFAULTS.promptExpansionMs,
  output: options.output,
  maxIterations: options.maxIterations ?? DEFAULTS.maxIterations,
  completionSignals: [options.completionSignal ?? DEFAULT_COMPLETION_SIGNAL].flat(),
  idleTimeoutMs: (options.idleTimeoutSeconds ?? DEFAULTS.idleTimeoutSeconds) * 1000,
  completionTimeoutMs: (options.completionTimeoutSeconds ?? DEFAULTS.completionTimeoutSeconds) * 1000,
});

const requestOf = (options: AgentOptions<unknown>): PlanRequest => ({
  kind: "run",
  options,
  logging: options.logging ?? DEFAULTS.logging,
  agent: options.agent,
});

/** Plans `run()`. */
export const planRun = Effect.fnUntraced(function* (options: RunOptions) {
  const sandbox = planSandbox(options.sandbox, options.hooks);
  const { branchStrategy } = options;
  const planned = yield* planSession({ ...requestOf(options), sandbox, branchStrategy });
  return {
    session: planned.session,
    checkout: planCheckout(options, planned.source),
    sandbox,
    agent: planAgent(options, planned.prompt),
  };
});

/** Plans `worktree.run()`. */
export const planWorktreeRun = Effect.fnUntraced(function* (
  options: WorktreeRunOptions,
  surroundings: Surroundings,
) {
  const sandbox = planSandbox(options.sandbox, options.hooks);
  const { session, prompt } = yield* planSession({ ...requestOf(options), sandbox, surroundings });
  return { session, sandbox, agent: planAgent(options, prompt) };
});

/** Plans `sandbox.run()`. */
export const planSandboxRun = Effect.fnUntraced(function* (
  options: SandboxRunOptions,
  surroundings: Surroundings,
) {
  const { session, prompt } = yield* planSession({ ...requestOf(options), surroundings });
  return { session, agent: planAgent(options, prompt) };
});
