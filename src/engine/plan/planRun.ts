import { join, resolve } from "node:path";
import * as Effect from "effect/Effect";
import { findHostSession } from "../../agentSessions/hostSessions.ts";
import { MIN_COPIED_ID_LENGTH } from "../../agentSessions/limits.ts";
import { attempt } from "../../boundary/failures.ts";
import { InvalidOptionsError } from "../../errors.ts";
import { agentSettings } from "../../options/agentSettings.ts";
import { requireFreeName } from "../../options/checks/mcpServers.ts";
import type {
  AgentOptions,
  ResumeOptions,
  RunOptions,
  SandboxRunOptions,
  WorktreeRunOptions,
} from "../../options/runOptions.ts";
import type { ResolvedPrompt } from "../../prompt/resolvePrompt.ts";
import type { LiveEnvironment } from "../environment/liveEnvironment.ts";
import type { ParentSession } from "./parentSession.ts";
import type { AgentPlan, ResumePlan } from "./plan.ts";
import { planCheckout } from "./planCheckout.ts";
import { planSandboxWithTests } from "./planSandbox.ts";
import { type PlanRequest, planSession } from "./planSession.ts";

/** The values of MCP servers' env vars and headers count as secrets. */
const mcpSecrets = ({ mcpServers = {} }: AgentOptions<unknown>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(mcpServers).flatMap(([name, server]) =>
      Object.entries(("url" in server ? server.headers : server.env) ?? {}).map(
        ([key, value]) => [`mcpServers.${name}.${key}`, value] as const,
      ),
    ),
  );

/** Warns if the agent reports its usage too late for the budget to stop it. */
const budgetWarnings = ({ agent, maxTokens, maxCostUsd, maxIterations }: AgentOptions<unknown>): string[] => {
  const hasBudget = maxTokens !== undefined || maxCostUsd !== undefined;
  if (!hasBudget || agent.reportsUsage !== "perTurn" || (maxIterations ?? 1) > 1) return [];
  return [
    `The agent ${agent.name} reports its usage only at the end of its turn, so a budget cannot stop the single iteration of this run.`,
  ];
};

/** Finds the session to resume on the host, before anything is created. */
const planResume = (
  { agent, resumeSession, forkSession }: ResumeOptions & AgentOptions<unknown>,
  cwd: string,
) =>
  attempt((): ResumePlan | undefined => {
    const { sessions } = agent;
    if (resumeSession === undefined || sessions === undefined) return undefined;
    if (forkSession && sessions.forksByCopy && resumeSession.length < MIN_COPIED_ID_LENGTH) {
      throw new InvalidOptionsError("forkSession", "the session's id is too short to be replaced in a copy.");
    }
    const files = findHostSession({ ...agent, sessions }, resumeSession, cwd);
    return { sessionId: resumeSession, isFork: forkSession ?? false, files };
  });

const planAgent = (
  options: AgentOptions<unknown>,
  prompt: ResolvedPrompt,
  resume?: ResumePlan,
): AgentPlan => ({ options: agentSettings(options), prompt, resume });

const requestOf = (options: AgentOptions<unknown>): PlanRequest => ({
  kind: "run",
  options,
  agent: options.agent,
  secrets: mcpSecrets(options),
  warnings: budgetWarnings(options),
});

export const planRun = Effect.fnUntraced(function* (options: RunOptions) {
  const sandbox = yield* planSandboxWithTests(options);
  const { branchStrategy } = options;
  const resume = yield* planResume(options, resolve(options.cwd ?? "."));
  const planned = yield* planSession({ ...requestOf(options), sandbox, branchStrategy });
  return {
    session: planned.session,
    checkout: planCheckout(options, planned.source, { sandbox }),
    sandbox,
    agent: planAgent(options, planned.prompt, resume),
  };
});

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

/** The environment was chosen when the sandbox was created. */
const requireTests = (
  { until, mcpServers = {} }: SandboxRunOptions,
  environment: LiveEnvironment | undefined,
): void => {
  if (environment !== undefined) requireFreeName(mcpServers);
  else if (until !== undefined) {
    throw new InvalidOptionsError(
      "until",
      "there are no tests to pass: pass `environment` to createSandbox().",
    );
  }
};

export const planSandboxRun = Effect.fnUntraced(function* (
  options: SandboxRunOptions,
  parentSession: ParentSession,
  environment: LiveEnvironment | undefined,
) {
  yield* attempt(() => requireTests(options, environment));
  const { session, prompt } = yield* planSession({ ...requestOf(options), parentSession });
  return { session, agent: planAgent(options, prompt) };
});
