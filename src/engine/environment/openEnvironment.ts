import { join } from "node:path";
import * as Effect from "effect/Effect";
import type * as Scope from "effect/Scope";
import type { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { withHostFileErrors } from "../hostFileErrors.ts";
import { timed } from "../phases.ts";
import type { SandboxPlan } from "../plan.ts";
import type { SandboxSession } from "../sandboxSession.ts";
import type { Session } from "../session.ts";
import type { LiveEnvironment } from "./live.ts";
import { writePackage } from "./package.ts";
import type { EnvironmentPlan } from "./plan.ts";
import { openShared } from "./shared.ts";
import { openStrict } from "./strict.ts";

const writing = (path: string, environment?: EnvironmentPlan) =>
  withHostFileErrors(
    interruptible(
      async () => {
        await writePackage(path, environment);
        return path;
      },
      (reason) => reason as SandduneError,
    ),
  );

/**
 * Makes what goes into the agent's sandbox, on the host: as they are now, whatever becomes of the folder later. Where the tests are in
 * another sandbox, the agent's gets nothing of them.
 */
export const prepareEnvironment = (
  { journal }: Session,
  { environment }: SandboxPlan,
): Effect.Effect<string | undefined, SandduneError> => {
  if (environment === undefined) return Effect.succeed(undefined);
  const path = join(journal.filesDirectory, "environment");
  return writing(path, environment.isolation === "strict" ? undefined : environment);
};

/** Gets the tests ready; they end with the scope. */
export const openEnvironment = (
  session: Session,
  sandbox: SandboxSession,
  { environment, provider }: SandboxPlan<SandboxProvider>,
): Effect.Effect<LiveEnvironment | undefined, SandduneError, Scope.Scope> => {
  const { packagePath } = sandbox;
  if (environment === undefined || packagePath === undefined) return Effect.succeed(undefined);
  const place = { session, sandbox, packagePath, plan: environment };
  const opened =
    environment.isolation === "shared"
      ? openShared(place, provider)
      : Effect.flatMap(
          writing(join(session.journal.filesDirectory, "tests-package"), environment),
          (packageOnHost) => openStrict(place, provider, packageOnHost),
        );
  return timed(session, { phase: "environment", label: "Getting the environment ready" }, opened);
};
