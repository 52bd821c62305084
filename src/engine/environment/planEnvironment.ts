import { randomBytes } from "node:crypto";
import * as Effect from "effect/Effect";
import { attempt } from "../../boundary/failures.ts";
import type { SandduneError } from "../../errors.ts";
import type { Repository } from "../../git/repository.ts";
import type { EnvironmentOption } from "../../options/runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { requireCapabilities } from "../../sandboxes/handle/requireCapabilities.ts";
import { type EnvironmentSource, findEnvironment } from "./findEnvironment.ts";

/** The decisions about an environment before the sandbox exists. */
export interface EnvironmentPlan {
  readonly source: EnvironmentSource;
  /** Whether the agent's test requests run in its own sandbox or in a separate one. */
  readonly isolation: "shared" | "strict";
  /** The token that authorises requests to the test server. */
  readonly token: string;
  /** The time limit for the set-up script and the start of the test server. */
  readonly startTimeoutMs: number;
}

const DEFAULT_START_TIMEOUT_MS = 5 * 60_000;

/** The name of the test server's token among the secrets of a session. */
export const TOKEN_NAME = "environment token";

/** `strict` for isolated sandboxes, because an agent can change all files there, also the tests. */
const defaultIsolation = ({ type }: SandboxProvider): EnvironmentPlan["isolation"] =>
  type === "isolated" ? "strict" : "shared";

/** Reads the environment, so that its errors are reported before anything is created. */
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
