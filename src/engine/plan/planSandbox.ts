import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import { openRepository } from "../../git/repository.ts";
import type { SandboxHook, SandboxHooks, SetupCacheOption } from "../../options/hooks.ts";
import type { EnvironmentOptions } from "../../options/runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { type EnvironmentPlan, planEnvironment } from "../environment/planEnvironment.ts";
import type { ParentSession } from "./parentSession.ts";
import type { SandboxPlan, SetupPlan } from "./plan.ts";

/** The hooks before the first one without `cache`. */
const planSetup = (hooks: readonly SandboxHook[]): SetupPlan | undefined => {
  const end = hooks.findIndex(({ cache }) => cache === undefined);
  const cached = end === -1 ? hooks : hooks.slice(0, end);
  return cached.length === 0
    ? undefined
    : { hooks: cached, keyFiles: cached.flatMap(({ cache }) => cache?.key ?? []) };
};

export const planSandbox = <Provider>(
  provider: Provider,
  { hooks: { host, sandbox } = {}, cache = true }: { readonly hooks?: SandboxHooks } & SetupCacheOption,
  environment?: EnvironmentPlan,
): SandboxPlan<Provider> => {
  const inSandbox = sandbox?.onSandboxReady ?? [];
  return {
    provider,
    setup: cache ? planSetup(inSandbox) : undefined,
    hooks: { "host.onSandboxReady": host?.onSandboxReady ?? [], "sandbox.onSandboxReady": inSandbox },
    usesSudo: inSandbox.some(({ sudo }) => sudo === true),
    environment,
  };
};

/** Plans a sandbox with its environment, whose folder may be in the repository. */
export const planSandboxWithTests = <Provider extends SandboxProvider>(
  options: EnvironmentOptions &
    SetupCacheOption & {
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
  ).pipe(Effect.map((environment) => planSandbox(options.sandbox, options, environment)));
