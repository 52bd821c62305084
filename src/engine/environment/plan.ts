import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import * as Effect from "effect/Effect";
import { loadEnvironment } from "../../environment/loadEnvironment.ts";
import type { SandduneError } from "../../errors.ts";
import { interruptible } from "../../process/interruptible.ts";
import type { EnvironmentOption } from "../../runOptions.ts";
import type { SandboxProvider } from "../../sandboxes/contract.ts";
import { requireCapabilities } from "../requireCapabilities.ts";

/** Tests of what an agent does, before there is a sandbox. */
export interface EnvironmentPlan {
  /** Its folder on the host. */
  readonly directory: string;
  /** What of the folder is brought along, relative to it. */
  readonly files: readonly string[];
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
export const planEnvironment = (
  option: EnvironmentOption | undefined,
  provider: SandboxProvider,
): Effect.Effect<EnvironmentPlan | undefined, SandduneError> => {
  if (option === undefined) return Effect.succeed(undefined);
  const {
    path,
    isolation = defaultIsolation(provider),
    startTimeoutMs = DEFAULT_START_TIMEOUT_MS,
  } = typeof option === "string" ? { path: option } : option;
  return interruptible(
    async () => {
      if (isolation === "strict") requireCapabilities(provider, { liveInput: true });
      const { directory, files } = await loadEnvironment(resolve(path));
      return { directory, files, isolation, startTimeoutMs, token: randomBytes(24).toString("base64url") };
    },
    (reason) => reason as SandduneError,
  );
};
