import type { AgentEvent } from "../contract.ts";
import { kindOfError } from "./modelErrors.ts";
import { ifSane, retryTimeIn } from "./retryTime.ts";

export type AgentErrorEvent = Extract<AgentEvent, { type: "error" }>;

interface Trouble {
  readonly message: string;
  /** The HTTP status, if the agent reports it. */
  readonly status?: number | undefined;
  readonly willRetry: boolean;
  /** When a rate limit ends, if the agent reports it apart from the message. */
  readonly retryAt?: Date | undefined;
}

/** Searching a longer text would be slow. The message itself stays whole, so that redaction finds secrets in it. */
const MAX_WORDS = 4000;

/** The event for an error that an agent reports. */
export const errorEvent = ({ message, status, willRetry, retryAt }: Trouble): AgentErrorEvent => {
  const words = message.slice(0, MAX_WORDS);
  const kind = kindOfError(words, status);
  const now = new Date();
  const until = kind === "rateLimit" ? (ifSane(retryAt, now) ?? retryTimeIn(words, now)) : undefined;
  return { type: "error", kind, message, willRetry, ...(until && { retryAt: until }) };
};
