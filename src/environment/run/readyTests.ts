import type { EnvironmentClient } from "../client/client.ts";

/** The tests of an environment, ready to be run, here and by this process. */
export interface ReadyTests extends EnvironmentClient {
  /** Says why they cannot be run any more; nothing, if all is well. */
  problem(): string | undefined;
  /** Ends everything that was started for them. Idempotent, never rejects. */
  close(): Promise<void>;
}
