import {
  AgentAuthenticationError,
  AgentNotFoundError,
  AgentOverloadedError,
  AgentRateLimitError,
  AgentUnavailableError,
} from "../../errors.ts";

/** Errors that are no verdict on the agent's work: it could not start working. */
const UNAVAILABLE = [
  AgentAuthenticationError,
  AgentRateLimitError,
  AgentOverloadedError,
  AgentUnavailableError,
];

const notFound = (error: AgentNotFoundError, isHost: boolean): string => {
  if (!isHost) return error.message;
  const { message } = new AgentNotFoundError(error.agent, error.program, undefined);
  return error.agent === "cursor" ? `${message} Its SDK will do as well: npm install @cursor/sdk` : message;
};

/** For programs that read records: the class of the error, and whether it is worth another attempt. */
const classOf = (error: Error): string => {
  if (error instanceof AgentRateLimitError) {
    return `[${error.name}, retryable${error.retryAt === undefined ? "" : ` at ${error.retryAt.toISOString()}`}]`;
  }
  return `[${error.name}, ${error instanceof AgentOverloadedError ? "retryable" : "not retryable"}]`;
};

/** Why an agent is unavailable, and what to do about it; `undefined` if it was available and has failed. */
export const unavailability = (error: unknown, isHost: boolean): string | undefined => {
  if (error instanceof AgentNotFoundError) return `${notFound(error, isHost)} ${classOf(error)}`;
  const isUnavailable = UNAVAILABLE.some((type) => error instanceof type);
  return isUnavailable ? `${(error as Error).message} ${classOf(error as Error)}` : undefined;
};
