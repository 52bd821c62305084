import type { HostState } from "../../git/hostState.ts";
import type { Repository } from "../../git/repository.ts";
import type { BranchPlan } from "../../options/branchStrategy.ts";
import type { EnvVars } from "../../options/envVars.ts";
import type { SessionPlan } from "./plan.ts";

/** What a session finds that takes place in the worktree, or in the sandbox, of another. */
export interface ParentSession {
  readonly runId: string;
  readonly repository: Repository;
  readonly branches: BranchPlan;
  /** The host when the worktree was made. */
  readonly host: HostState;
  /** The env vars that were declared for everything in it: with its sandbox provider, and with itself. */
  readonly sandboxEnv: EnvVars;
  readonly env: EnvVars;
  readonly sandboxName: string | undefined;
  /** The secrets that have been in it: its files may still hold them. */
  readonly secrets: Map<string, string>;
}

/** What a session offers to those that take place in it. */
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

/**
 * The secrets of a call, together with those of everyone who was there before, among which they are remembered from now
 * on. A value that has changed since is known by another name.
 */
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
