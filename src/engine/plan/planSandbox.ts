import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import { openRepository } from "../../git/repository.ts";
import type { SandboxHooks } from "../../options/hooks.ts";
import type { EnvironmentOptions } from "../../options/runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { type EnvironmentPlan, planEnvironment } from "../environment/planEnvironment.ts";
import type { ParentSession } from "./parentSession.ts";
import type { SandboxPlan } from "./plan.ts";

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

/** Plans a sandbox with its environment, whose folder may be in the repository. */
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
