import * as Effect from "effect/Effect";
import { InvalidOptionsError, type SandduneError } from "../../errors.ts";
import { type HostState, readHostState } from "../../git/hostState.ts";
import { branchRef } from "../../git/refs.ts";
import { branchNameProblem } from "../../options/branchName.ts";
import { resolveBranchStrategy } from "../../options/branchStrategy.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { SandboxForkOptions } from "../../options/sandbox.ts";
import { createRunId } from "../../runs/journal/runId.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import type { ParentSession } from "./parentSession.ts";
import type { CheckoutPlan, SandboxPlan, SessionPlan } from "./plan.ts";

/** How to create one fork of a sandbox. */
export interface ForkPlan {
  readonly session: SessionPlan;
  readonly checkout: CheckoutPlan;
  readonly sandbox: SandboxPlan<SandboxProvider>;
  /** The env vars that were declared for the sandbox. */
  readonly env: EnvVars;
}

/** The facts about the sandbox that is forked. */
interface Forked {
  readonly sandbox: SandboxSession;
  readonly sandboxPlan: SandboxPlan<SandboxProvider>;
  readonly parentSession: ParentSession;
}

/** Git cannot have both `a` and `a/b`. */
const isTaken = ({ refs }: HostState, branch: string): boolean => {
  const wanted = branchRef(branch);
  return refs.some(
    ({ name }) => name === wanted || name.startsWith(`${wanted}/`) || wanted.startsWith(`${name}/`),
  );
};

const freeBranches = (host: HostState, parent: string, count: number): string[] => {
  const free: string[] = [];
  for (let number = 1; free.length < count; number++) {
    const branch = `${parent}-${number}`;
    const problem = branchNameProblem(branch);
    if (problem !== undefined) {
      throw new InvalidOptionsError(
        "branches",
        `is needed, because the name ${branch} is not possible: ${problem}`,
      );
    }
    if (!isTaken(host, branch)) free.push(branch);
  }
  return free;
};

const checkBranches = (host: HostState, branches: readonly string[]): readonly string[] => {
  const taken = branches.find((branch) => isTaken(host, branch));
  if (taken !== undefined) {
    throw new InvalidOptionsError(
      "branches",
      `${taken} exists already, or conflicts with a branch that does. Name a new one`,
    );
  }
  const inside = branches.find((one) => branches.some((other) => one.startsWith(`${other}/`)));
  if (inside !== undefined) {
    throw new InvalidOptionsError("branches", `${inside} conflicts with another one of them`);
  }
  return branches;
};

/** Plans the forks of a sandbox. Fails with an `InvalidOptionsError` if a branch is not free. */
export const planForks = Effect.fnUntraced(function* (
  { sandbox, sandboxPlan, parentSession }: Forked,
  count: number,
  { branches, name, signal }: SandboxForkOptions,
): Effect.fn.Return<readonly ForkPlan[], SandduneError> {
  const startedAt = performance.now();
  const { plan } = sandbox.owner;
  const { checkout } = sandbox;
  const host = yield* readHostState(plan.repository);
  const chosen = yield* Effect.try({
    try: () =>
      branches === undefined
        ? freeBranches(host, checkout.branch ?? "HEAD", count)
        : checkBranches(host, branches),
    catch: (error) => error as InvalidOptionsError,
  });
  return chosen.map((branch): ForkPlan => {
    const runId = createRunId();
    const strategy = { type: "branch", branch, from: checkout.tip } as const;
    return {
      session: {
        ...plan,
        runId,
        startedAt,
        name,
        host,
        branches: resolveBranchStrategy(strategy, sandboxPlan.provider.type, host.head, runId),
        env: { ...plan.env, secrets: new Map(parentSession.secrets) },
        within: undefined,
        warnings: [],
        signal,
      },
      checkout: {
        source: { branch, from: checkout.tip },
        isShared: false,
        lasts: true,
        overlayProblem: undefined,
        copyToWorktree: [],
        copyToWorktreeMs: 0,
        onWorktreeReady: [],
        stacksLayers: false,
        setup: undefined,
        copyOf: checkout,
      },
      sandbox: {
        ...sandboxPlan,
        hooks: { "host.onSandboxReady": [], "sandbox.onSandboxReady": [] },
        setup: undefined,
      },
      env: parentSession.env,
    };
  });
});
