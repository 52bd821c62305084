import type { EnvironmentClient } from "../client/client.ts";

/** The tests of an environment, ready to be run by this process. */
export interface ReadyTests extends EnvironmentClient {
  /** Why they can no longer be run; `undefined` if they can. */
  problem(): string | undefined;
  /** Ends everything that was started for them. Idempotent, never rejects. */
  close(): Promise<void>;
}
