import type { AgentEvent } from "../contract.ts";
import { kindOfError } from "./modelErrors.ts";
import { ifSane, retryTimeIn } from "./retryTime.ts";

export type AgentErrorEvent = Extract<AgentEvent, { type: "error" }>;

interface Trouble {
  readonly message: string;
  /** Of HTTP, if the agent tells. */
  readonly status?: number | undefined;
  readonly willRetry: boolean;
  /** When a rate limit ends, if that is known from elsewhere than the words. */
  readonly retryAt?: Date | undefined;
}

/** Looking for a time in much more would take long. The message stays whole: only then can secrets in it be found. */
const MAX_WORDS = 4000;

/** The event for what an agent says of its trouble with the model. */
export const errorEvent = ({ message, status, willRetry, retryAt }: Trouble): AgentErrorEvent => {
  const words = message.slice(0, MAX_WORDS);
  const kind = kindOfError(words, status);
  const now = new Date();
  const until = kind === "rateLimit" ? (ifSane(retryAt, now) ?? retryTimeIn(words, now)) : undefined;
  return { type: "error", kind, message, willRetry, ...(until && { retryAt: until }) };
};
