import { join } from "node:path";
import * as Effect from "effect/Effect";
import { InvalidOptionsError, type SandduneError } from "../errors.ts";
import { ENV_FILE } from "../options/configDirectory.ts";
import { git } from "./git.ts";
import { nulSeparated } from "./output.ts";

/** Whether git tracks a path at `cwd`, or a file in place of one of its directories. Ignores case. */
export const isTracked = (cwd: string, path: string): Effect.Effect<boolean, SandduneError> => {
  const [directory = path] = path.split("/");
  return git(["ls-files", "-z", "--", `:(icase)${directory}`], { cwd }).pipe(
    Effect.map(({ stdout }) =>
      nulSeparated(stdout).some((tracked) => `${path}/`.startsWith(`${tracked.toLowerCase()}/`)),
    ),
  );
};

/** Refuses a tracked env file: an agent's commit must not decide which host variables a sandbox gets. */
export const refuseTrackedEnvFile = (cwd: string): Effect.Effect<void, SandduneError> =>
  isTracked(cwd, ENV_FILE).pipe(
    Effect.flatMap((tracked) =>
      tracked
        ? Effect.fail(
            new InvalidOptionsError(
              ENV_FILE,
              `${join(cwd, ENV_FILE)} is in git, where secrets do not belong and agents can change it. Take it out: git rm --cached ${ENV_FILE}`,
            ),
          )
        : Effect.void,
    ),
  );

/** Whether git ignores a path of a checkout. A path with a slash at its end is a directory. */
export const isIgnored = (cwd: string, path: string): Effect.Effect<boolean, SandduneError> =>
  git(["check-ignore", "--quiet", "--", path], { cwd, expectedExitCodes: [1] }).pipe(
    Effect.map(({ exitCode }) => exitCode === 0),
  );
