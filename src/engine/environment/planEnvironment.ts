import { randomBytes } from "node:crypto";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { EnvironmentOption } from "../../options/runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { requireCapabilities } from "../../sandboxes/handle/requireCapabilities.ts";
import { type EnvironmentSource, findEnvironment } from "./findEnvironment.ts";

/** Tests of what an agent does, before there is a sandbox. */
export interface EnvironmentPlan {
  readonly source: EnvironmentSource;
  /** Whether the tests run beside the agent, or in a sandbox of their own. */
  readonly isolation: "shared" | "strict";
  /** Who has it may use the test server. */
  readonly token: string;
  /** How long the set-up script and the test server may take until everything is ready. */
  readonly startTimeoutMs: number;
}

const DEFAULT_START_TIMEOUT_MS = 5 * 60_000;

/** The name of the test server's token among the secrets of a session. */
export const TOKEN_NAME = "environment token";

/**
 * Where the tests run if nobody says so: beside the agent only where it cannot write them. In an isolated sandbox all files
 * are the agent's.
 */
const defaultIsolation = ({ type }: SandboxProvider): EnvironmentPlan["isolation"] =>
  type === "isolated" ? "strict" : "shared";

/** Reads the environment, so that what is wrong with it is told before anything is created. */
export const planEnvironment = Effect.fnUntraced(function* (
  option: EnvironmentOption | undefined,
  provider: SandboxProvider,
  openRepository: Effect.Effect<Repository, SandduneError>,
): Effect.fn.Return<EnvironmentPlan | undefined, SandduneError> {
  if (option === undefined) return undefined;
  const {
    path,
    isolation = defaultIsolation(provider),
    startTimeoutMs = DEFAULT_START_TIMEOUT_MS,
  } = typeof option === "string" ? { path: option } : option;
  yield* attempt(() => requireCapabilities(provider, { liveInput: true }));
  const source = yield* findEnvironment(path, yield* openRepository);
  return { source, isolation, startTimeoutMs, token: randomBytes(24).toString("base64url") };
});
