import type { HostState } from "../../git/hostState.ts";
import type { Repository } from "../../git/repository.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { SessionPlan } from "./plan.ts";

/** The session that owns the worktree or sandbox in which another session runs. */
export interface ParentSession {
  readonly runId: string;
  readonly repository: Repository;
  readonly branches: BranchPlan;
  /** The host's state when the worktree was created. */
  readonly host: HostState;
  /** The env vars that its sandbox provider and its options declare. */
  readonly sandboxEnv: EnvVars;
  readonly env: EnvVars;
  readonly sandboxName: string | undefined;
  /** All secrets that were used in it: its files may contain them. */
  readonly secrets: Map<string, string>;
}

/** The session of this plan, as a parent of others. */
export const parentSessionOf = (
  plan: SessionPlan,
  declared: { readonly sandboxEnv: EnvVars; readonly env: EnvVars } = { sandboxEnv: {}, env: {} },
  secrets = new Map<string, string>(),
): ParentSession => ({
  runId: plan.runId,
  repository: plan.repository,
  branches: plan.branches,
  host: plan.host,
  ...declared,
  sandboxName: plan.sandboxName,
  secrets,
});

const EARLIER = / \(an earlier value.*\)$/;

const freeName = (taken: ReadonlyMap<string, string>, name: string): string => {
  const key = name.replace(EARLIER, "");
  if (!taken.has(key)) return key;
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? `${key} (an earlier value)` : `${key} (an earlier value, ${count})`;
    if (!taken.has(candidate)) return candidate;
  }
};

/** The secrets of this call and all earlier ones. A value that has changed since gets another name. */
export const allSecrets = (
  own: ReadonlyMap<string, string>,
  { secrets }: ParentSession,
): Map<string, string> => {
  const all = new Map(own);
  const known = new Set(own.values());
  for (const [name, value] of secrets) {
    if (!known.has(value)) all.set(freeName(all, name), value);
  }
  for (const [name, value] of all) secrets.set(name, value);
  return all;
};
