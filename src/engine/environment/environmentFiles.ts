import { join } from "node:path";
import * as Effect from "effect/Effect";
import { withHostFileErrors } from "../../boundary/failures.ts";
import { interruptible } from "../../boundary/interruptible.ts";
import { type EnvironmentPart, loadCommitted } from "../../environment/folder/loadEnvironment.ts";
import { SETUP_FILE } from "../../environment/folder/setupFile.ts";
import { EnvironmentError, type SandduneError } from "../../errors.ts";
import { writeFilesOf } from "../../git/snapshots/checkpointCheckout.ts";
import { treeOf } from "../../git/snapshots/committedFolder.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import type { Session } from "../session/session.ts";
import type { EnvironmentSource } from "./findEnvironment.ts";
import { writePackage } from "./tests/testPackage.ts";

/** The files of an environment on the host, from where they go into sandboxes. */
export interface EnvironmentFiles {
  /** The package for the agent's sandbox. With `strict` isolation it has no tests. */
  readonly forAgent: string;
  /** The package for test sandboxes. */
  readonly forTests: string;
  readonly hasSetupScript: boolean;
  /** The paths of the tests in the repository: a folder, or its files if the folder is the repository itself. */
  readonly pathsInRepository: readonly string[];
}

/** Makes errors name the folder that the user passed, not its copy. */
const namingFolder =
  (checkout: string, directory: string) =>
  (error: SandduneError): SandduneError =>
    error instanceof EnvironmentError && error.path.startsWith(checkout)
      ? new EnvironmentError(
          directory + error.path.slice(checkout.length),
          error.problem,
          `${error.hint} It is read from the commit that is checked out.`.trim(),
          { cause: error },
        )
      : error;

const partsOf = (
  { plan, journal }: Session,
  source: EnvironmentSource,
): Effect.Effect<readonly EnvironmentPart[], SandduneError> => {
  if (source.type === "folder") return Effect.succeed([source.part]);
  const checkout = join(journal.filesDirectory, "environment-folder");
  return writeFilesOf(plan.repository, treeOf(source.folder), checkout).pipe(
    Effect.andThen(interruptible(() => loadCommitted(checkout, source.directory, source.named))),
    Effect.mapError(namingFolder(checkout, source.directory)),
  );
};

const pathsInRepository = (
  source: EnvironmentSource,
  parts: readonly EnvironmentPart[],
): readonly string[] => {
  if (source.type === "folder") return [];
  return source.folder.path === "" ? parts.flatMap(({ files }) => files) : [source.folder.path];
};

/** Copies the files, so that later changes do not matter. With `strict`, the agent gets no tests. */
export const prepareEnvironment = (
  session: Session,
  { environment }: SandboxPlan,
): Effect.Effect<EnvironmentFiles | undefined, SandduneError> => {
  if (environment === undefined) return Effect.succeed(undefined);
  const { source, isolation } = environment;
  const forAgent = join(session.journal.filesDirectory, "environment");
  const forTests = isolation === "shared" ? forAgent : join(session.journal.filesDirectory, "tests-package");
  const write = (parts: readonly EnvironmentPart[]) =>
    interruptible(async () => {
      await writePackage(forTests, parts);
      if (forAgent !== forTests) await writePackage(forAgent, []);
      const hasSetupScript = parts.some(({ files }) => files.includes(SETUP_FILE));
      return { forAgent, forTests, hasSetupScript, pathsInRepository: pathsInRepository(source, parts) };
    });
  return withHostFileErrors(Effect.flatMap(partsOf(session, source), write));
};
