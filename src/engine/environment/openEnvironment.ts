import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { SandboxSession } from "../sandbox/sandboxSession.ts";
import { timed } from "../session/phases.ts";
import type { Session } from "../session/session.ts";
import type { EnvironmentFiles } from "./environmentFiles.ts";
import { openGrading } from "./grading.ts";
import type { LiveEnvironment } from "./liveEnvironment.ts";
import { openShared } from "./sharedTests.ts";
import { openStrict } from "./strictTests.ts";

/** Prepares the tests. The scope ends them. */
export const openEnvironment = (
  session: Session,
  sandbox: SandboxSession,
  sandboxPlan: SandboxPlan<SandboxProvider>,
  files: EnvironmentFiles | undefined,
): Effect.Effect<LiveEnvironment | undefined, SandduneError, Scope.Scope> => {
  const { packagePath } = sandbox;
  const { environment: plan } = sandboxPlan;
  if (plan === undefined || files === undefined || packagePath === undefined)
    return Effect.succeed(undefined);
  const setup = { session, sandbox, packagePath, files, plan, sandboxPlan };
  return Effect.gen(function* () {
    const verdicts = yield* openGrading(setup);
    // Prepare at once if an agent is about to start. A long-lived sandbox may have to wait for that.
    if (sandbox.endsWithCall) yield* verdicts.prepare;
    const access = yield* timed(
      session,
      { phase: "environment", label: "Preparing the environment" },
      plan.isolation === "shared" ? openShared(setup) : openStrict(setup),
    );
    return { access, source: plan.source, ...verdicts };
  });
};
